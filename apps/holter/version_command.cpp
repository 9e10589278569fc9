// SPDX-License-Identifier: Apache-2.0
#include "version_command.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <rapidjson/rapidjson.h>
#include <zlib.h>
#include <zstd.h>

#include "output.h"

namespace holter::app {

namespace {

#ifdef NDEBUG
constexpr const char* kBuild = "release";
#else
constexpr const char* kBuild = "debug";
#endif

int run_version(const base::flags::Parsed& flags) {
  if (flags.get("format") == "text") {
    return write_data(
        fmt::format("holter {}\n{} build, {}, C++{}\nzlib {}, zstd {}, RapidJSON {}; running on glibc {}\n",
                    HOLTER_VERSION, kBuild, HOLTER_COMPILER, __cplusplus / 100 % 100, zlibVersion(),
                    ZSTD_versionString(), RAPIDJSON_VERSION_STRING, gnu_get_libc_version()));
  }
  return write_data(fmt::format(
      "{{\"schema\":\"holter.version/1\",\"version\":\"{}\",\"build\":\"{}\",\"compiler\":\"{}\",\"report_schema\":"
      "\"holter.report/1\",\"libraries\":{{\"zlib\":\"{}\",\"zstd\":\"{}\",\"rapidjson\":\"{}\",\"glibc\":\"{}\"}}}}\n",
      HOLTER_VERSION, kBuild, HOLTER_COMPILER, zlibVersion(), ZSTD_versionString(), RAPIDJSON_VERSION_STRING,
      gnu_get_libc_version()));
}

}  // namespace

Command version_command() {
  base::flags::Command spec{.name = "version", .summary = "print the version, the build and its libraries"};
  spec.positional.no_more = "it describes this program";
  spec.flags = {{.name = "format",
                 .letter = 'o',
                 .argument = "FORMAT",
                 .choices = {"text", "json"},
                 .fallback = "text",
                 .help = "output format"},
                {.name = "json", .means = "format=json", .help = "the same as -o json"}};
  spec.examples = {{"holter version", "for people"},
                   {"holter version --json", "for programs"},
                   {"holter --version", "the same as the first"}};
  return {spec, run_version};
}

}  // namespace holter::app
