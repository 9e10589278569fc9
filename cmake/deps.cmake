# SPDX-License-Identifier: Apache-2.0
# Every outside library, with its version floor and how it is linked, in this one file.
# Programs link the C++ runtime and these libraries statically, so that one file runs anywhere with
# glibc 2.34 (tools/check_glibc_floor).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt 9.1 REQUIRED)
find_package(tl-expected 1.0 REQUIRED)
find_package(tomlplusplus 3.3 QUIET)
if(NOT tomlplusplus_FOUND)
  pkg_check_modules(TOMLPP REQUIRED tomlplusplus>=3.3)
endif()
find_path(RAPIDJSON_INCLUDE rapidjson/reader.h REQUIRED)

# holter_static_dependency(NAME HEADER ARCHIVE): an imported target around a static archive.
function(holter_static_dependency name header archive)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_ARCHIVE NAMES ${archive} REQUIRED)
  add_library(dep::${name} STATIC IMPORTED)
  set_target_properties(dep::${name} PROPERTIES IMPORTED_LOCATION ${${name}_ARCHIVE}
    INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE})
endfunction()
holter_static_dependency(re2 re2/re2.h libre2.a)
holter_static_dependency(zlib zlib.h libz.a)
holter_static_dependency(lzma lzma.h liblzma.a)
holter_static_dependency(zstd zstd.h libzstd.a)
holter_static_dependency(xxhash xxhash.h libxxhash.a)
target_link_libraries(dep::re2 INTERFACE Threads::Threads)

add_library(dep_fmt STATIC cmake/fmt.cpp)
target_include_directories(dep_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
add_library(dep::fmt ALIAS dep_fmt)
add_library(dep_rapidjson INTERFACE)
target_include_directories(dep_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE})
add_library(dep::rapidjson ALIAS dep_rapidjson)
add_library(dep_toml INTERFACE)
target_compile_definitions(dep_toml INTERFACE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)
add_library(dep::toml ALIAS dep_toml)

if(HOLTER_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
if(HOLTER_BENCH)
  find_package(benchmark 1.7 REQUIRED)
endif()
