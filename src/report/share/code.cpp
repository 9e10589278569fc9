// SPDX-License-Identifier: Apache-2.0
#include "report/share/code.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "report/share/vocabulary.h"

namespace holter::report::share {

namespace {

std::string_view piece(const re2::StringPiece& p) { return {p.data(), p.size()}; }

struct Place {
  const RE2* pattern;
  int file, function;  // groups
};

const std::vector<Place>& places() {
  static const RE2 frame(R"re(([A-Za-z_][\w.]*) \(([^()\s"]+\.(?:pyx?|ipynb))(?::\d+)?\))re");
  static const RE2 traceback(R"re(File "([^"\n]+)", line \d+,? in ([A-Za-z_][\w.]*))re");
  static const RE2 logger(R"re(\[([\w./-]+\.pyx?):\d+:([A-Za-z_]\w*)\])re");
  static const RE2 bare(R"re(([\w./-]+\.pyx?):\d+:? (?:in )?([A-Za-z_]\w*_\w+))re");
  static const RE2 at(R"re(([A-Za-z_][\w.]*) at ([\w./-]+\.(?:pyx?|ipynb)):\d+)re");
  static const std::vector<Place> all{{&frame, 2, 1}, {&traceback, 1, 2}, {&logger, 1, 2}, {&bare, 1, 2}, {&at, 2, 1}};
  return all;
}

// Where the word `File "` of a traceback begins; npos when the line is none.
std::size_t file_column(std::string_view line) {
  const auto at = line.find("File \"");
  const bool indented = at != std::string_view::npos && at >= 2 && line.substr(at - 2, 2) == "  ";
  return indented && line.find("\", line ", at) != std::string_view::npos ? at : std::string_view::npos;
}

bool is_public_line(std::string_view line, std::size_t column) {
  const auto from = column + 6;
  return !public_part(line.substr(from, line.find('"', from) - from)).empty();
}

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

}  // namespace

std::string_view public_part(std::string_view path) {
  for (const std::string_view system : {"/dev/", "/proc/", "/sys/"}) {
    if (path.starts_with(system)) return path;
  }
  std::string_view rest = path;
  for (const std::string_view folder : {"site-packages/", "dist-packages/"}) {
    if (const auto at = path.find(folder); at != std::string_view::npos) rest = path.substr(at + folder.size());
  }
  static constexpr std::array<std::string_view, 12> kInside{
      "torch/distributed/", "torch/utils/",       "megatron/core/", "megatron/training/",
      "sglang/srt/",        "vllm/v1/",           "vllm/engine/",   "vllm/worker/",
      "vllm/executor/",     "deepspeed/runtime/", "ray/train/",     "transformers/models/"};
  for (const auto inside : kInside) {
    if (const auto at = path.find(inside); rest.data() == path.data() && at != std::string_view::npos) {
      rest = path.substr(at);
    }
  }
  if (const auto at = path.find("/lib/python3."); rest.data() == path.data() && at != std::string_view::npos) {
    const auto slash = path.find('/', at + 13);  // the standard library
    return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  if (is_public_source(path)) return path.substr(path.rfind('/') + 1);
  const bool standard = rest.data() != path.data() || !path.starts_with('/');
  return standard && is_public_package(rest.substr(0, rest.find('/'))) ? rest : std::string_view();
}

void find_functions(std::string_view text, const std::function<void(std::string_view name)>& learn) {
  for (const auto& place : places()) {
    re2::StringPiece groups[3];
    const re2::StringPiece all(text.data(), text.size());
    std::size_t from = 0;
    while (from < text.size() && place.pattern->Match(all, from, text.size(), RE2::UNANCHORED, groups, 3)) {
      from = static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
      if (!public_part(piece(groups[place.file])).empty()) continue;
      auto name = piece(groups[place.function]);
      if (const auto dot = name.rfind('.'); dot != std::string_view::npos) {
        const auto scope = name.substr(0, dot);  // "Trainer.step": the class is theirs too
        if (!is_ordinary(scope) && !is_public_package(scope.substr(0, scope.find('.')))) learn(scope);
        name = name.substr(dot + 1);
      }
      if (!is_common_function(name)) learn(name);
    }
  }
}

void blank_source_lines(std::vector<std::string>& lines) {
  static const RE2 error(R"re(^(?:\[[^\]]*\]:? ?)?(?:Traceback|[\w.]*(?:Error|Exception|Interrupt)\b))re");
  std::size_t column = std::string::npos;  // of the File line above; npos: none, or a public one
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto& line = lines[i];
    if (const auto at = file_column(line); at != std::string::npos) {
      column = is_public_line(line, at) ? std::string::npos : at;
      continue;
    }
    std::size_t expected = column;
    if (i == 0 && lines.size() > 1) {  // the File line may stand above what is cited
      const auto next = file_column(lines[1]);
      if (next != std::string::npos) expected = next;
      else if (RE2::PartialMatch(lines[1], error)) expected = lines[1].starts_with('[') ? lines[1].find("]: ") + 5 : 2;
    }
    const bool quoted = expected != std::string::npos && line.size() > expected + 2 &&
                        is_blank(std::string_view(line).substr(expected, 2)) && line[expected + 2] != '\t' &&
                        (expected < 2 || is_blank(std::string_view(line).substr(expected - 2, 2)));
    if (quoted) line = line.substr(0, expected + 2) + "...";
    else column = std::string::npos;
  }
}

}  // namespace holter::report::share
