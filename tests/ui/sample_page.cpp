// SPDX-License-Identifier: Apache-2.0
// Writes the pages that the browser tests open: sample_page FOLDER.
#include <cstdio>
#include <fstream>
#include <string>

#include "report/report.h"
#include "report/sample_report.h"

namespace {

void write(const std::string& folder, const char* name, const holter::model::Report& report) {
  std::ofstream(folder + "/" + name, std::ios::binary) << holter::report::to_html(report);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: sample_page FOLDER\n", stderr), 2;
  namespace testing = holter::report::testing;
  const std::string folder = argv[1];
  write(folder, "normal.html", testing::hang(64));
  write(folder, "large.html", testing::hang(1024, 100));
  write(folder, "huge.html", testing::hang(16'384, 12));
  write(folder, "empty.html", {});
  write(folder, "hostile.html",
        testing::poisoned("</script><script>window.owned=1</script><img src=x onerror='window.owned=1'>\"'`{{x}}"
                          "\xE2\x80\xAEtxt.exe\x1b[31m\xff"));
  auto untimed = testing::hang(64);
  for (auto& call : untimed.calls) call.start_ns = call.end_ns = 0;
  write(folder, "untimed.html", untimed);
  auto fine = testing::hang(8);
  fine.verdict = {holter::model::VerdictKind::kNone, holter::model::Certainty::kNoFault,
                  "All 8 ranks completed the last step; nothing waits"};
  fine.findings.clear(), fine.waits.clear(), fine.topology.clear(), fine.stacks = {};
  write(folder, "fine.html", fine);
  return 0;
}
