# Finds libtorch inside a torch wheel, CPU or CUDA; never needs a CUDA toolkit.
#   in   LIBTORCH_ROOT  <site-packages>/torch, as a variable or in the environment; else .venv, else the Python interpreter
#   out  Libtorch::torch, Libtorch_VERSION, Libtorch_HAS_CUDA
if(NOT LIBTORCH_ROOT AND DEFINED ENV{LIBTORCH_ROOT})
  set(LIBTORCH_ROOT "$ENV{LIBTORCH_ROOT}")
endif()
if(NOT LIBTORCH_ROOT)
  file(GLOB LIBTORCH_ROOT "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
endif()
if(NOT LIBTORCH_ROOT)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    execute_process(COMMAND "${Python3_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
      OUTPUT_VARIABLE LIBTORCH_ROOT ERROR_QUIET)
  endif()
endif()
set(LIBTORCH_ROOT "${LIBTORCH_ROOT}" CACHE PATH "The torch folder of a Python wheel" FORCE)

set(_version_header "${LIBTORCH_ROOT}/include/torch/headeronly/version.h")
if(LIBTORCH_ROOT AND EXISTS "${_version_header}")
  foreach(_part MAJOR MINOR PATCH)
    file(STRINGS "${_version_header}" _line REGEX "define TORCH_VERSION_${_part} ")
    string(REGEX REPLACE ".* ([0-9]+)$" "\\1" _version_${_part} "${_line}")
  endforeach()
  set(Libtorch_VERSION "${_version_MAJOR}.${_version_MINOR}.${_version_PATCH}")
endif()
find_library(Libtorch_LIBRARY torch_cpu PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch REQUIRED_VARS Libtorch_LIBRARY LIBTORCH_ROOT VERSION_VAR Libtorch_VERSION)

if(Libtorch_FOUND AND NOT TARGET Libtorch::torch)
  find_package(Threads REQUIRED)
  add_library(Libtorch::torch INTERFACE IMPORTED)
  # Imported: the folders become -isystem, after every folder of ours and of other packages.
  set_target_properties(Libtorch::torch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
    "${LIBTORCH_ROOT}/include;${LIBTORCH_ROOT}/include/torch/csrc/api/include")
  set(_libraries "")
  foreach(_name c10 torch_cpu c10_cuda torch_cuda torch)
    if(EXISTS "${LIBTORCH_ROOT}/lib/lib${_name}.so")
      list(APPEND _libraries "${LIBTORCH_ROOT}/lib/lib${_name}.so")
    endif()
  endforeach()
  string(REPLACE ";" "," _comma_separated "${_libraries}")
  # no-as-needed: torch_cuda registers its kernels in static initialisers; nobody refers to its symbols.
  target_link_libraries(Libtorch::torch INTERFACE
    "-Wl,--push-state,--no-as-needed,${_comma_separated},--pop-state" Threads::Threads)
  target_link_options(Libtorch::torch INTERFACE "LINKER:-rpath,${LIBTORCH_ROOT}/lib")
  if(EXISTS "${LIBTORCH_ROOT}/lib/libtorch_cuda.so")
    set(Libtorch_HAS_CUDA TRUE)
  endif()
endif()
