// SPDX-License-Identifier: Apache-2.0
// Kernel modules: lsmod rows, modprobe errors, unknown symbols. Facts module.<name> with value
// "loaded", "not loaded" or "error: ...".
#include <algorithm>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

bool is_module(std::string_view word) {
  return word.size() >= 2 && word.size() < 64 &&
         std::all_of(
             word.begin(), word.end(),
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-';
             });
}

std::string module_key(std::string_view name) {
  std::string key = "module.";
  for (const char c : name) key += c == '-' ? '_' : c;
  return key;
}

bool lsmod_row(std::string_view line, FactWriter& facts) {
  const auto f = base::split_blanks(line);
  if (f.size() >= 3 && f[0] == "Module" && f[1] == "Size") return true;
  if (f.size() < 3 || f.size() > 4 || !is_module(f[0])) return false;
  const auto size = base::to_int<std::int64_t>(f[1]);
  // Module sizes are whole pages.
  if (!size || *size < 4096 || *size % 4096 != 0 || !base::to_int<int>(f[2])) return false;
  facts.add(module_key(f[0]), "loaded");
  return true;
}

// "(nvidia_peermem not loaded)", "nvidia_peermem: not loaded"
bool not_loaded(std::string_view line, FactWriter& facts) {
  const auto at = line.find("not loaded");
  if (at == std::string_view::npos || at > 70) return false;
  auto name = base::trim(line.substr(0, at));
  while (!name.empty() && (name.front() == '(' || name.front() == '-')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == ':' || name.back() == ' ')) name.remove_suffix(1);
  if (name.ends_with(" is")) name.remove_suffix(3);
  if (name.starts_with("module ")) name.remove_prefix(7);
  if (!is_module(name)) return false;
  facts.add(module_key(name), "not loaded");
  return true;
}

// "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"
bool insert_error(std::string_view line, FactWriter& facts) {
  for (const std::string_view text : {"could not insert '", "could not load module ", "FATAL: Module "}) {
    const auto at = line.find(text);
    if (at == std::string_view::npos) continue;
    const auto tail = line.substr(at + text.size());
    const auto end = tail.find_first_of("': ");
    if (end == std::string_view::npos || !is_module(tail.substr(0, end))) continue;
    const auto reason = tail.find_first_not_of("': ", end);
    facts.add(module_key(tail.substr(0, end)),
              "error: " + std::string(reason == std::string_view::npos ? "unknown" : tail.substr(reason)));
    return true;
  }
  return false;
}

// "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)"
bool unknown_symbol(std::string_view line, FactWriter& facts) {
  const auto at = line.find(": Unknown symbol ");
  if (at == std::string_view::npos) return false;
  auto name = line.substr(0, at);
  if (const auto blank = name.find_last_of(" \t]"); blank != std::string_view::npos) name = name.substr(blank + 1);
  if (!is_module(name)) return false;
  facts.add(module_key(name), "error: " + std::string(line.substr(at + 2)));
  return true;
}

class Modules final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return lsmod_row(body, facts) || not_loaded(body, facts) || insert_error(body, facts) ||
           unknown_symbol(body, facts);
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_modules() { return std::make_unique<Modules>(); }

}  // namespace holter::formats::facts
