// SPDX-License-Identifier: Apache-2.0
#include "report/share.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "base/strings.h"
#include "report/each_text.h"
#include "report/share/code.h"
#include "report/share/contexts.h"
#include "report/share/name_table.h"
#include "report/share/patterns.h"
#include "report/share/placeholders.h"
#include "report/share/vocabulary.h"

namespace holter::report {

namespace {

using share::Edge;

// Equal texts (operations, groups, states of calls) are many: what became of them is kept, up to here.
constexpr std::size_t kRemembered = 100'000;

bool is_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with("lib") && name.find(".so") != std::string_view::npos;
}

bool has_letters(std::string_view text) {
  return text.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos;
}

// Words after a secret's key that say something of it ("token: the ..."), or a count ("new-token: 0").
bool is_no_secret(std::string_view value) {
  const auto lower = base::lower(value);
  for (const std::string_view none : {"none", "null", "true", "false", "<none>", "(none)", "redacted", "expired",
                                      "invalid", "missing", "required", "denied"}) {
    if (lower == none) return true;
  }
  const bool letters = value.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (letters && value.size() <= 3) return true;
  return value.size() < 6 && value.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_any_host(std::string_view address) {
  return address == "127.0.0.1" || address == "0.0.0.0" || address == "255.255.255.255";
}

// "https://docs.nvidia.com/x" names nobody; a name or a question in it might.
bool is_public_url(std::string_view url) {
  const auto from = url.find("://") + 3;
  const auto host = url.substr(from, url.find_first_of("/?#", from) - from);
  return share::is_public_site(host) && url.find('?') == std::string_view::npos;
}

class Scrubber {
 public:
  void learn_file(std::string_view path) {
    if (path.size() >= 2 &&
        files_.add(std::string(path), {.kind = "FILE", .name = std::string(path), .spelling = ""})) {
      file(path);  // numbers follow the order of the report
    }
  }

  void learn(std::string_view kind, std::string_view name) {
    if (name.size() < 2 || name == "localhost" || base::to_int<std::int64_t>(name)) return;
    share::KnownName known{.kind = std::string(kind), .name = std::string(name), .spelling = ""};
    known.any_case = kind == "NODE" && has_digits(name);
    if (kind == "FUNC" || kind == "PROC" || kind == "MODULE") known.edge = Edge::kIdentifier;
    if (name.size() <= 3 && !has_digits(name)) known.edge = Edge::kWord;
    if (!names_.add(std::string(name), known)) return;
    if (kind == "NODE") learn_short(name, known), learn_family(name);
    marks_.of(kind, name);
  }

  void learn_from(std::string_view text) {
    share::find_names(text, [&](std::string_view kind, std::string_view name) { learn(kind, name); });
  }

  // "gn8" beside a known host "gn7" is one of the same machines.
  void learn_siblings(std::string_view text) {
    static const RE2 kNumbered(R"re(\b([A-Za-z][A-Za-z0-9-]*?[A-Za-z-])(\d+))re");
    re2::StringPiece rest(text.data(), text.size());
    std::string family, number;
    while (RE2::FindAndConsume(&rest, kNumbered, &family, &number)) {
      const bool ends = rest.empty() || !is_letter(rest[0]);
      if (!ends || !families_.contains(base::lower(family))) continue;
      if (share::is_plausible_host(family + number, false)) learn("NODE", family + number);
    }
  }

  void text(std::string& value) {
    if (value.empty()) return;
    if (const auto done = done_.find(value); done != done_.end()) {
      value = done->second;
      return;
    }
    std::string before = value;
    scrub(value);
    if (done_.size() < kRemembered) done_.emplace(std::move(before), value);
  }

 private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool has_digits(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

  // A host answers to its short name too.
  void learn_short(std::string_view name, const share::KnownName& known) {
    const auto label = name.substr(0, name.find('.'));
    if (label.size() < name.size() && share::is_plausible_host(label, true)) names_.add(std::string(label), known);
  }

  void learn_family(std::string_view name) {
    const auto label = name.substr(0, name.find_first_of(".["));
    const auto last = label.find_last_not_of("0123456789");
    if (last != std::string_view::npos && last > 0 && last + 1 < label.size()) {
      families_.insert(base::lower(label.substr(0, last + 1)));
    }
  }

  void scrub(std::string& value) {
    std::erase_if(value, share::is_mark);
    files_.replace(value, [&](const share::KnownName& known) { return file(known.name); });
    for (const auto& p : share::patterns_around_names()) {
      share::replace_matches(value, *p.pattern, [&](std::string_view found) { return shaped(p.kind, found); });
    }
    share::replace_matches(value, share::path_pattern(), [&](std::string_view found) { return path(found); });
    names_.replace(value, [&](const share::KnownName& known) { return marks_.of(known.kind, known.name); });
    for (const auto& p : share::patterns_after_names()) {
      share::replace_matches(value, *p.pattern, [&](std::string_view found) { return shaped(p.kind, found); });
    }
    std::erase_if(value, share::is_mark);
  }

  std::string shaped(std::string_view kind, std::string_view found) {
    const bool stays = (kind == "SECRET" && (is_no_secret(found) || found[0] == share::kOpen)) ||
                       (kind == "ADDR" && is_any_host(found)) || (kind == "NODE" && share::is_public_site(found)) ||
                       (kind == "URL" && is_public_url(found)) || is_symbol_version(kind, found);
    return stays ? std::string(found) : marks_.of(kind, found, kind == "PATH" ? share::known_extension(found) : "");
  }
  // "memcpy@GLIBC_2.14" is no login.
  static bool is_symbol_version(std::string_view kind, std::string_view found) {
    const auto at = found.find('@');
    return kind == "USER" && at != std::string_view::npos &&
           (found.substr(at + 1).starts_with("GLIBC") || found.substr(at + 1) == "plt");
  }

  // "logs/gn7-rank3.log" -> "FILE-1-rank3.log": the rank and the extension tell the reader what it was.
  std::string file(std::string_view name) {
    static const RE2 kRank(R"re((?i)(?:^|[^a-z])(rank[_-]?\d+))re");
    std::string rank;
    if (RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), kRank, &rank)) rank = "-" + base::lower(rank);
    return marks_.of("FILE", name, rank + std::string(share::known_extension(name)));
  }

  std::string path(std::string_view found) {
    if (is_library(found)) return std::string(found.substr(found.rfind('/') + 1));
    if (found.find_first_not_of("/.~") == std::string_view::npos) return std::string(found);
    // "NET/IB/0 /GDRDMA" of NCCL is a mode, not a place.
    if (found.starts_with('/') && found.find('/', 1) == std::string_view::npos && !has_letters(found)) {
      return std::string(found);
    }
    if (const auto part = share::public_part(found); !part.empty()) return std::string(part);
    return marks_.of("PATH", found, share::known_extension(found));
  }

  share::Placeholders marks_;
  share::NameTable files_, names_;
  std::unordered_set<std::string> families_;  // of hosts: "gn" of "gn7"
  std::unordered_map<std::string, std::string> done_;
};

// "41 TENSOR_MODEL_PARALLEL_GROUP" and "TENSOR_MODEL_PARALLEL_GROUP 41": the number stays.
void learn_group(Scrubber& s, std::string_view name) {
  auto desc = name;
  if (const auto blank = name.find(' '); blank != std::string_view::npos && base::to_int<int>(name.substr(0, blank))) {
    desc = name.substr(blank + 1);
  } else if (const auto last = name.rfind(' ');
             last != std::string_view::npos && base::to_int<int>(name.substr(last + 1))) {
    desc = name.substr(0, last);
  }
  const bool anonymous = desc.starts_with("0x") || share::is_ordinary_phrase(desc) || base::to_int<std::int64_t>(desc);
  if (!anonymous && desc.find_first_of(" ()[]") == std::string_view::npos) s.learn("GROUP", desc);
}

void learn_culprit(Scrubber& s, const model::Culprit& c) {
  const auto host = [&](const std::string& name, bool strong) {
    if (share::is_plausible_host(name, strong)) s.learn("NODE", name);
  };
  host(c.node, true);
  if (c.kind == model::CulpritKind::kNode) host(c.name, false);
  if (c.kind == model::CulpritKind::kLink) host(c.peer.substr(0, c.peer.find('/')), false);
  if (c.kind == model::CulpritKind::kGroup) learn_group(s, c.name);
  const bool word = c.name.find(' ') == std::string::npos && c.name.find('/') == std::string::npos;
  if (c.kind == model::CulpritKind::kProcess && word && !share::is_common_process(c.name) &&
      !share::is_ordinary_phrase(c.name)) {
    s.learn("PROC", c.name);
  }
}

void learn_fields(Scrubber& s, const model::Report& r) {
  const auto host = [&](const std::string& name) {
    if (share::is_plausible_host(name, true)) s.learn("NODE", name);
  };
  for (const auto& name : r.job.nodes) host(name);
  for (const auto& name : r.decision.exclude_nodes) host(name);
  for (const auto& name : r.impact.jobs) s.learn("JOB", name);
  for (const auto& f : r.evidence.files) s.learn_file(f.path);
  for (const auto& f : r.findings) {
    for (const auto& name : f.exclude_nodes) host(name);
    for (const auto& c : f.culprits) learn_culprit(s, c);
  }
  for (const auto& g : r.job.groups) learn_group(s, g.name);
  for (const auto& c : r.calls) learn_group(s, c.group);
  for (const auto& w : r.waits) learn_group(s, w.group);
}

template <typename Visit>
void each_citation(model::Report& r, Visit visit) {
  for (auto& f : r.findings) {
    for (auto& c : f.evidence) visit(c);
    for (auto& c : f.against) visit(c);
  }
  for (auto& x : r.ruled_out) {
    for (auto& c : x.evidence) visit(c);
  }
}

void blank_source(std::string& text) {
  if (text.find('\n') == std::string::npos) return;
  std::vector<std::string> lines;
  for (const auto line : base::split(text, '\n')) lines.emplace_back(line);
  share::blank_source_lines(lines);
  text.clear();
  for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
}

void learn(Scrubber& s, model::Report& r) {
  learn_fields(s, r);
  std::unordered_set<std::string> distinct;
  each_text(r, [&](std::string& text) {
    if (distinct.insert(text).second) s.learn_from(text);
  });
  each_text(r, [&](std::string& text) {
    if (distinct.erase(text) > 0) s.learn_siblings(text);
  });
  // A citation may name a file that the list of files does not hold.
  each_citation(r, [&](model::Citation& c) { s.learn_file(c.source); });
}

}  // namespace

struct SharedNames::Impl {
  Scrubber scrubber;
};

SharedNames::SharedNames(model::Report& report) : impl_(std::make_unique<Impl>()) {
  learn(impl_->scrubber, report);
  each_citation(report, [](model::Citation& c) {
    blank_source(c.text);
    share::blank_source_lines(c.context);
  });
  const std::string version = report.tool_version;  // ours, and shaped like an address
  each_text(report, [&](std::string& text) { impl_->scrubber.text(text); });
  report.tool_version = version;
}
SharedNames::~SharedNames() = default;
SharedNames::SharedNames(SharedNames&&) noexcept = default;

std::string SharedNames::scrub(std::string_view text) {
  impl_->scrubber.learn_from(text);
  impl_->scrubber.learn_siblings(text);
  std::string out(text);
  impl_->scrubber.text(out);
  return out;
}

void scrub(model::Report& report) { const SharedNames names(report); }

}  // namespace holter::report
