// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <vector>

#include <fmt/format.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/words.h"

namespace holter::report_assets {
struct File {
  const char* path;
  const char* data;
  std::size_t size;
  const char* sha256;
};
extern const File kFiles[];
extern const std::size_t kFileCount;
}  // namespace holter::report_assets

namespace holter::report {

namespace {

// Nothing is fetched, framed, submitted or evaluated; only our own style and scripts, by hash, run.
std::string policy() {
  std::string style, script;
  for (std::size_t i = 0; i < report_assets::kFileCount; ++i) {
    const auto& f = report_assets::kFiles[i];
    auto& list = std::string_view(f.path).ends_with(".css") ? style : script;
    list += fmt::format(" 'sha256-{}'", f.sha256);
  }
  return fmt::format("default-src 'none'; base-uri 'none'; form-action 'none'; style-src{}; script-src{}", style,
                     script);
}

std::string assets(std::string_view ending, std::string_view element) {
  std::string out;
  for (std::size_t i = 0; i < report_assets::kFileCount; ++i) {
    const auto& f = report_assets::kFiles[i];
    if (!std::string_view(f.path).ends_with(ending)) continue;
    out += fmt::format("<{}>{}</{}>\n", element, std::string_view(f.data, f.size), element);
  }
  return out;
}

constexpr std::string_view kSearch =
    "<div class=\"search\"><input id=\"search\" type=\"search\" placeholder=\"Search  /\" aria-label=\"Search the report\" autocomplete=\"off\" "
    "spellcheck=\"false\"><ol id=\"results\" hidden></ol></div>"
    "<button id=\"theme\" type=\"button\" aria-label=\"Switch between light and dark\">Theme</button></div>\n";

struct Section {
  std::string_view id, name, title;  // the name stands in the bar
  std::string body;                  // empty: the report has nothing to show there
};

std::string bar(const std::vector<Section>& sections) {
  std::string out = "<div class=\"bar\"><a href=\"#answer\" class=\"name\">holter</a><nav aria-label=\"Sections\">";
  for (const auto& s : sections) {
    if (!s.body.empty()) out += fmt::format("<a href=\"#{}\">{}</a>", s.id, s.name);
  }
  out += "</nav>";
  return out += kSearch;
}

void write(std::string& out, const Section& s) {
  if (s.body.empty()) return;
  out += fmt::format(
      "<section id=\"{}\"><h2>{} <a class=\"anchor\" href=\"#{}\" aria-label=\"link to this section\">#</a></h2>\n{}</section>\n",
      s.id, s.title, s.id, s.body);
}

constexpr std::string_view kTimeline =
    "<p class=\"hint\">Rows are ranks folded by equal behaviour; a gap is a call that was not made. Hatched: no evidence. "
    "Click or focus it, then <kbd>+</kbd> <kbd>-</kbd> or the wheel zoom, <kbd>\xE2\x86\x90</kbd> <kbd>\xE2\x86\x92</kbd> move, "
    "<kbd>\xE2\x86\x91</kbd> <kbd>\xE2\x86\x93</kbd> choose a row, <kbd>Enter</kbd> unfolds it, <kbd>0</kbd> fits.</p>\n"
    "<div id=\"timeline-view\" class=\"needs-script\"></div><p id=\"timeline-said\" class=\"said\" role=\"status\"></p>\n";

constexpr std::string_view kRing = "<div id=\"ring-view\"></div>\n";

std::vector<Section> sections_of(const model::Report& r) {
  return {{"timeline", "Timeline", "Timeline of collectives", r.calls.empty() ? "" : std::string(kTimeline)},
          {"stacks", "Stacks", "Merged stacks", html_stacks(r)},
          {"waits", "Waits", "Who waits for whom", html_waits(r) + (r.topology.empty() ? "" : std::string(kRing))},
          {"hypotheses", "Hypotheses", "Hypotheses", html_hypotheses(r)},
          {"evidence", "Evidence", "Evidence", html_evidence(r)},
          {"inputs", "Inputs", "Inputs and gaps", html_inputs(r)}};
}

}  // namespace

std::string anchor(std::string_view id, std::size_t position) {
  static constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const bool plain = !id.empty() && id.size() <= 16 && id.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(id) : fmt::format("x{}", position);
}

std::string to_html(const model::Report& r) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}: {}</title>\n",
      policy(), html(verdict_label(r)), html(r.verdict.summary));
  out += assets(".css", "style");
  out += "</head>\n<body>\n";
  const auto sections = sections_of(r);
  out += bar(sections);
  out += "<main>\n" + html_answer(r);
  for (const auto& section : sections) write(out, section);
  const bool drawable = !r.calls.empty() || !r.job.missing_ranks.empty();
  out += fmt::format("</main>\n<footer>holter {}{}</footer>\n", html(r.tool_version),
                     r.created_ns == 0 ? "" : " \xC2\xB7 " + time_text(r.created_ns));
  if (drawable || !r.stacks.nodes.empty() || !r.topology.empty()) {
    out += "<script type=\"application/json\" id=\"data\">" + script_json(html_data(r)) + "</script>\n";
  }
  out += assets(".js", "script");
  return out + "</body>\n</html>\n";
}

}  // namespace holter::report
