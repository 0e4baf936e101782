# The compiler settings of every target of ours, as one interface target: brigade_house_flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(brigade_house_flags INTERFACE)
target_compile_options(brigade_house_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wuseless-cast
  -Wcast-align -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override -Wnull-dereference
  -Wdouble-promotion -Wformat=2 -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wundef -Werror
  # g++ 12 sees overlapping copies in std::string::insert that are not there (GCC bug 105651).
  -Wno-restrict
  # Equal bits need one rounding per written operation: no contraction of a*b+c except where fma is written.
  -ffp-contract=off)
if(BRIGADE_SANITIZE)
  target_compile_options(brigade_house_flags INTERFACE "-fsanitize=${BRIGADE_SANITIZE}" -fno-omit-frame-pointer
    # Sanitizer instrumentation confuses g++ 12's flow analysis; the plain build keeps these warnings.
    -Wno-null-dereference -Wno-maybe-uninitialized)
  target_link_options(brigade_house_flags INTERFACE "-fsanitize=${BRIGADE_SANITIZE}")
endif()

# The fastest linker there is; the default one works too.
find_program(BRIGADE_MOLD mold)
if(BRIGADE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(BRIGADE_CCACHE ccache)
if(BRIGADE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BRIGADE_CCACHE}")
endif()
