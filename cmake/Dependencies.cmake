# Everything that comes from outside, in one place. A missing one is an error that names Debian's package.

# brigade_require(<package> <apt name> <found variable>)
function(brigade_require what apt found)
  if(NOT ${found})
    message(FATAL_ERROR "${what} was not found. On Debian: apt-get install ${apt}")
  endif()
endfunction()

find_package(Threads REQUIRED)

find_package(Boost 1.74 QUIET)
brigade_require("Boost (>= 1.74, headers)" libboost-dev Boost_FOUND)

find_package(tl-expected QUIET)
brigade_require("tl::expected" libexpected-dev tl-expected_FOUND)

find_path(BRIGADE_TOMLPLUSPLUS_INCLUDE toml++/toml.h)
brigade_require("toml++" libtomlplusplus-dev BRIGADE_TOMLPLUSPLUS_INCLUDE)

find_package(gflags QUIET)
brigade_require(gflags libgflags-dev gflags_FOUND)

find_package(nlohmann_json QUIET)
brigade_require("nlohmann-json" nlohmann-json3-dev nlohmann_json_FOUND)

find_package(spdlog QUIET)
brigade_require(spdlog libspdlog-dev spdlog_FOUND)

find_package(Eigen3 3.4 QUIET NO_MODULE)
brigade_require("Eigen (>= 3.4)" libeigen3-dev Eigen3_FOUND)

if(BRIGADE_WITH_ONEDNN)
  # Not by its own package file, which asks for the development files of OpenCL, unused here.
  find_path(BRIGADE_ONEDNN_INCLUDE dnnl.hpp)
  find_library(BRIGADE_ONEDNN_LIBRARY dnnl)
  brigade_require("oneDNN" libdnnl-dev BRIGADE_ONEDNN_LIBRARY)
  find_package(OpenMP QUIET COMPONENTS CXX)
  brigade_require("OpenMP" g++ OpenMP_CXX_FOUND)
  add_library(dnnl::dnnl UNKNOWN IMPORTED)
  set_target_properties(dnnl::dnnl PROPERTIES IMPORTED_LOCATION "${BRIGADE_ONEDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BRIGADE_ONEDNN_INCLUDE}")
endif()

if(BRIGADE_BUILD_TESTS)
  find_package(GTest QUIET)
  brigade_require(GoogleTest "libgtest-dev libgmock-dev" GTest_FOUND)
endif()

if(BRIGADE_WITH_TORCH)
  find_package(Libtorch 2.13)
  if(NOT Libtorch_FOUND)
    message(FATAL_ERROR "libtorch >= 2.13 was not found. tools/quickstart.sh installs it into .venv; an existing one is "
      "taken from LIBTORCH_ROOT=<site-packages>/torch; -DBRIGADE_WITH_TORCH=OFF builds the torch-free half alone.")
  endif()
endif()
