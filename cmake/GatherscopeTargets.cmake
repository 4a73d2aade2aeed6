# What every target of the project shares: language level, warnings, sanitizers, the compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(gatherscope_flags INTERFACE)
# gcc 12 misfires: -Wrestrict on std::string::insert (bug 105651), -Wmaybe-uninitialized on std::variant (bug 105562).
target_compile_options(gatherscope_flags INTERFACE -Wall -Wextra
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(GATHERSCOPE_WERROR)
    target_compile_options(gatherscope_flags INTERFACE -Werror)
endif()
if(GATHERSCOPE_SANITIZE)
    target_compile_options(gatherscope_flags INTERFACE -fsanitize=${GATHERSCOPE_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(gatherscope_flags INTERFACE -fsanitize=${GATHERSCOPE_SANITIZE})
endif()
