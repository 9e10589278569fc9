// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/strings.h"

namespace holter::base::flags {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t fewest = (word.size() < 4 ? 1 : word.size() < 9 ? 2 : 3) + 1;
  for (const auto candidate : candidates) {
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const auto edits = begins ? 1 : edit_distance(word, candidate);
    if (edits < fewest) best = candidate, fewest = edits;
  }
  return best;
}

namespace {
std::string did_you_mean(std::string_view near, std::string_view dashes = "") {
  return near.empty() ? "" : fmt::format("; did you mean '{}{}'?", dashes, near);
}
}  // namespace

// One command line being read.
class Parser {
 public:
  Parser(const Program& program, const Command& command) : program_(program), command_(command) {
    for (const auto& f : command.flags) all_.push_back(&f);
    for (const auto& f : program.common) all_.push_back(&f);
  }

  Result<Parsed> run(const std::vector<std::string>& arguments, const GetEnv& env) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& word = arguments[i];
      if (only_arguments_ || word.size() < 2 || word[0] != '-') {
        HOLTER_TRY([[maybe_unused]] bool ok, take_argument(word));
      } else if (word == "--") {
        only_arguments_ = true;
      } else if (word[1] == '-') {
        HOLTER_TRY([[maybe_unused]] bool ok, take_long(word, arguments, i));
      } else {
        HOLTER_TRY([[maybe_unused]] bool ok, take_letters(word, arguments, i));
      }
    }
    HOLTER_TRY([[maybe_unused]] bool ok, take_environment(env));
    for (const auto* f : all_) out_.fallback_.emplace(f->name, f->fallback);
    if (command_.positional.required && out_.arguments_.empty() && !out_.has("help")) {
      return fail(Code::kInvalid,
                  fmt::format("{} {} needs {} {}", program_.name, command_.name,
                              command_.positional.many ? "at least one" : "a", command_.positional.name));
    }
    return std::move(out_);
  }

 private:
  Result<bool> take_argument(const std::string& word) {
    const auto& p = command_.positional;
    if (p.name.empty() || (!p.many && !out_.arguments_.empty())) {
      return fail(Code::kInvalid,
                  fmt::format("unexpected argument '{}': {} {} takes {}{}{}", word, program_.name, command_.name,
                              p.name.empty() ? "none" : "one", p.no_more.empty() ? "" : ", ", p.no_more));
    }
    HOLTER_TRY([[maybe_unused]] bool ok, check_choice(p.name, p.choices, word));
    out_.arguments_.push_back(word);
    return true;
  }

  Result<bool> take_long(const std::string& word, const std::vector<std::string>& arguments, std::size_t& i) {
    const auto equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const Flag* flag = find([&](const Flag& f) { return f.name == name; });
    if (!flag) {
      std::vector<std::string_view> names;
      for (const auto* f : all_) names.push_back(f->name);
      return fail(Code::kInvalid, fmt::format("unknown option '--{}' for {} {}{}", name, program_.name, command_.name,
                                              did_you_mean(nearest(name, names), "--")));
    }
    if (flag->argument.empty()) {
      if (equals == std::string::npos) return set(*flag, "");
      return fail(Code::kInvalid, fmt::format("--{} takes no value", name));
    }
    if (equals != std::string::npos) return set(*flag, word.substr(equals + 1));
    return set_next(*flag, arguments, i);
  }

  Result<bool> take_letters(const std::string& word, const std::vector<std::string>& arguments, std::size_t& i) {
    for (std::size_t at = 1; at < word.size(); ++at) {
      const Flag* flag = find([&](const Flag& f) { return f.letter == word[at]; });
      if (!flag) {
        return fail(Code::kInvalid, fmt::format("unknown option '-{}' for {} {}", printable(word.substr(at, 1)),
                                                program_.name, command_.name));
      }
      if (flag->argument.empty()) {
        HOLTER_TRY([[maybe_unused]] bool ok, set(*flag, ""));
      } else if (at + 1 < word.size()) {
        return set(*flag, word.substr(at + (word[at + 1] == '=' ? 2 : 1)));
      } else {
        return set_next(*flag, arguments, i);
      }
    }
    return true;
  }

  Result<bool> take_environment(const GetEnv& env) {
    for (const auto* f : all_) {
      const char* text = f->env.empty() || out_.has(f->name) ? nullptr : env(std::string(f->env).c_str());
      if (!text || !*text) continue;
      if (f->argument.empty() && std::string_view(text) == "0") continue;
      auto done = set(*f, text);
      if (!done) return done.error().within(std::string(f->env));
    }
    return true;
  }

  Result<bool> set_next(const Flag& flag, const std::vector<std::string>& arguments, std::size_t& i) {
    if (i + 1 >= arguments.size()) return fail(Code::kInvalid, fmt::format("--{} needs {}", flag.name, flag.argument));
    return set(flag, arguments[++i]);
  }

  Result<bool> set(const Flag& flag, std::string value) {
    if (!flag.means.empty()) {
      const auto equals = flag.means.find('=');
      out_.given_[std::string(flag.means.substr(0, equals))].emplace_back(flag.means.substr(equals + 1));
      return true;
    }
    HOLTER_TRY([[maybe_unused]] bool ok, check_choice(fmt::format("--{}", flag.name), flag.choices, value));
    if (flag.value == Value::kNumber && to_int<int>(value).value_or(-1) < 0) {
      return fail(Code::kInvalid, fmt::format("--{}: '{}' is not a number", flag.name, value));
    }
    out_.given_[std::string(flag.name)].push_back(std::move(value));
    return true;
  }

  static Result<bool> check_choice(std::string_view who, const std::vector<std::string_view>& choices,
                                   const std::string& value) {
    if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return true;
    return fail(Code::kInvalid, fmt::format("{}: '{}' is none of {}{}", who, value, fmt::join(choices, ", "),
                                            did_you_mean(nearest(value, choices))));
  }

  template <typename Match>
  const Flag* find(Match match) const {
    for (const auto* f : all_) {
      if (match(*f)) return f;
    }
    return nullptr;
  }

  const Program& program_;
  const Command& command_;
  std::vector<const Flag*> all_;
  bool only_arguments_ = false;
  Parsed out_;
};

std::string_view Parsed::get(std::string_view flag) const {
  if (const auto it = given_.find(flag); it != given_.end()) return it->second.back();
  const auto it = fallback_.find(flag);
  return it == fallback_.end() ? std::string_view() : std::string_view(it->second);
}

int Parsed::count(std::string_view flag) const {
  const auto it = given_.find(flag);
  return it == given_.end() ? 0 : static_cast<int>(it->second.size());
}

int Parsed::number(std::string_view flag) const { return to_int<int>(get(flag)).value_or(0); }

Result<Parsed> parse(const Program& program, const Command& command, const std::vector<std::string>& arguments,
                     const GetEnv& env) {
  return Parser(program, command).run(arguments, env);
}

Result<const Command*> find_command(const Program& program, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& c : program.commands) {
    if (c.name == name) return &c;
    names.push_back(c.name);
  }
  return fail(Code::kInvalid, fmt::format("unknown command '{}'{}", name, did_you_mean(nearest(name, names))));
}

}  // namespace holter::base::flags
