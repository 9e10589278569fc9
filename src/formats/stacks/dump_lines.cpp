// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/dump_lines.h"

#include <algorithm>

#include "base/strings.h"
#include "formats/stacks/scan.h"

namespace holter::formats::stacks {

namespace {

using base::trim;

// py-spy: `Process 7714: cmd`, `Parent Process 4470: cmd`, `Thread 7714 (active+gil): "MainThread"`.
std::optional<DumpLine> pyspy_process(std::string_view text) {
  Scan scan(text);
  DumpLine out;
  out.head = scan.skip("Parent ") ? Head::kParent : Head::kProcess;
  out.tool = "py-spy";
  if (!scan.skip("Process ") || !scan.number(out.pid) || !scan.skip(":")) return std::nullopt;
  out.text = trim(scan.rest());
  // Written by people and by loaders: "(DataLoader worker 3, ppid 4470)".
  if (const auto at = out.text.find("ppid"); at != std::string_view::npos) {
    Scan parent(out.text.substr(at + 4));
    parent.skip_any(" =:");
    parent.number(out.parent_pid);
  }
  return out;
}

std::optional<DumpLine> pyspy_thread(std::string_view text) {
  Scan scan(text);
  DumpLine out;
  out.head = Head::kThread;
  out.style = Style::kPySpy;
  out.tool = "py-spy";
  if (!scan.skip("Thread ") || !scan.number_or_hex(out.tid) || !scan.skip(" (")) return std::nullopt;
  const auto status = scan.until(')');
  out.active = status.starts_with("active");
  out.owns_gil = status.ends_with("+gil");
  if (!out.active && !status.starts_with("idle")) return std::nullopt;
  if (scan.skip(": \"")) out.text = scan.until_last('"');
  return out;
}

// faulthandler: `Thread 0x00007f.. [name] (most recent call first):`, `Current thread ..`;
// pystack: `Traceback for thread 112 (python) [Has the GIL] (most recent call last):`.
std::optional<DumpLine> python_thread(std::string_view text) {
  const bool first = text.find("(most recent call first)") != std::string_view::npos;
  if (!first && text.find("(most recent call last)") == std::string_view::npos) return std::nullopt;
  Scan scan(text);
  DumpLine out;
  out.head = Head::kThread;
  out.style = first ? Style::kFaulthandler : Style::kTraceback;
  out.tool = first ? "faulthandler" : "pystack";
  if (scan.skip("Traceback for thread ")) {
    if (!scan.number(out.tid)) return std::nullopt;
    out.owns_gil = text.find("[Has the GIL") != std::string_view::npos;
    return out;
  }
  out.active = scan.skip("Current thread ");
  if (!first || (!out.active && !scan.skip("Thread ")) || !scan.number_or_hex(out.tid)) return std::nullopt;
  if (scan.skip(" [")) out.text = scan.until(']');
  return out;
}

std::optional<DumpLine> python_note(std::string_view text) {
  const bool timeout = text.starts_with("Timeout (") && text.ends_with(")!");
  if (!timeout && !text.starts_with("Fatal Python error:")) return std::nullopt;
  DumpLine out;
  out.head = Head::kNote;
  out.tool = "faulthandler";
  out.text = text;
  return out;
}

// gdb: `Thread 2 (Thread 0x7f.. (LWP 4519) "name"):`, `Thread 1 (LWP 77):`, `Attaching to process 5`.
std::optional<DumpLine> gdb_line(std::string_view text) {
  Scan scan(text);
  DumpLine out;
  out.tool = "gdb";
  if (scan.skip("Attaching to process ") || scan.skip("Attaching to program: ")) {
    out.head = Head::kProcess;
    if (const auto at = text.rfind("process "); at != std::string_view::npos) {
      Scan process(text.substr(at + 8));
      if (process.number(out.pid)) return out;
    }
    return std::nullopt;
  }
  out.head = Head::kThread;
  out.style = Style::kNative;
  if (!scan.skip("Thread ") || !scan.number(out.thread_number) || !scan.skip(" (")) return std::nullopt;
  const auto lwp = text.find("LWP ");
  const auto process = text.find("process ");
  if (lwp == std::string_view::npos && process == std::string_view::npos) return std::nullopt;
  Scan id(text.substr(lwp == std::string_view::npos ? process + 8 : lwp + 4));
  if (!id.number(out.tid)) return std::nullopt;
  if (const auto quote = text.find('"'); quote != std::string_view::npos) {
    out.text = Scan(text.substr(quote + 1)).until('"');
  }
  return out;
}

// eu-stack: `PID 4470 - process`, `TID 4470:`.
std::optional<DumpLine> eu_stack_line(std::string_view text) {
  Scan scan(text);
  DumpLine out;
  out.tool = "eu-stack";
  if (scan.skip("PID ")) {
    out.head = Head::kProcess;
    if (scan.number(out.pid) && scan.skip(" - ")) return out;
    return std::nullopt;
  }
  out.head = Head::kThread;
  out.style = Style::kNative;
  if (!scan.skip("TID ") || !scan.number(out.tid)) return std::nullopt;
  const auto rest = trim(scan.rest());
  if (!rest.starts_with(":")) return std::nullopt;
  if (Scan name(rest.substr(1)); name.skip(" ")) out.text = trim(name.rest());
  return out;
}

// Titles of kernel stacks: `==> /proc/4470/task/4471/stack <==`, `/proc/4470/stack`, and
// `task:python3 state:D stack:0 pid:4470 ppid:1` of the kernel log.
std::optional<DumpLine> kernel_line(std::string_view text) {
  DumpLine out;
  out.head = Head::kThread;
  out.style = Style::kKernel;
  out.tool = "proc";
  const auto proc = text.find("/proc/");
  if (proc != std::string_view::npos && text.find("/stack") != std::string_view::npos) {
    Scan scan(text.substr(proc + 6));
    if (!scan.number(out.pid)) return std::nullopt;
    if (!scan.skip("/task/") || !scan.number(out.tid)) out.tid = out.pid;
    return scan.skip("/stack") ? std::optional(out) : std::nullopt;
  }
  if (!text.starts_with("task:")) return std::nullopt;
  const auto state = text.find("state:");
  const auto pid = text.find(" pid:");
  if (state == std::string_view::npos || pid == std::string_view::npos || state + 6 >= text.size()) return std::nullopt;
  out.tool = "kernel log";
  out.state = text[state + 6];
  out.text = trim(text.substr(5, state - 5));
  Scan scan(text.substr(pid + 5));
  if (!scan.number(out.pid)) return std::nullopt;
  out.tid = out.pid;
  return out;
}

// /proc/PID/status and the titles of collectors: `State:\tD (disk sleep)`, `pid 4470 ... state D`.
std::optional<DumpLine> state_line(std::string_view text) {
  Scan scan(text);
  DumpLine out;
  out.head = Head::kNote;
  if (!scan.skip("State:")) return std::nullopt;
  const auto rest = trim(scan.rest());
  if (rest.empty() || std::string_view("DSRTtZXI").find(rest[0]) == std::string_view::npos) return std::nullopt;
  if (rest.size() > 1 && rest[1] != ' ') return std::nullopt;
  out.state = rest[0];
  return out;
}

// `== group A: 14 ranks [0-5,8-15] ==`, `ranks 0-5,8-15 (14):`, `=== rank 3 (gn7) ===`.
std::optional<DumpLine> rank_title(std::string_view text) {
  const auto start = text.find_first_not_of("=-#*+<> \t[");
  if (start == std::string_view::npos) return std::nullopt;
  auto body = text.substr(start);
  DumpLine out;
  auto at = body.find("anks");
  if (at != std::string_view::npos && at > 0 && (body[at - 1] == 'r' || body[at - 1] == 'R')) {
    auto list = body.substr(at + 4);
    list.remove_prefix(std::min(list.size(), list.find_first_not_of(" :=")));
    const bool bracket = list.starts_with('[') || list.starts_with('(') || list.starts_with('{');
    if (bracket) list.remove_prefix(1);
    list = list.substr(0, list.find_first_not_of("0123456789-,/ "));
    while (!list.empty() && (list.back() == ' ' || list.back() == '-' || list.back() == ',')) list.remove_suffix(1);
    const auto ranks = model::RankSet::parse(list);
    if (!ranks || ranks->empty()) return std::nullopt;
    out.head = Head::kThread;
    out.style = Style::kPySpy;
    out.tool = "merged";
    out.ranks = *ranks;
    return out;
  }
  Scan scan(body);
  if (!scan.skip("rank") && !scan.skip("Rank") && !scan.skip("RANK")) return std::nullopt;
  scan.skip_any(" :=_");
  if (!scan.number(out.rank)) return std::nullopt;
  // A title, not a log line: nothing but a short remark follows.
  if (scan.rest().size() > 60 || (start == 0 && !trim(scan.rest()).empty() && trim(scan.rest()) != ":"))
    return std::nullopt;
  out.head = Head::kSection;
  return out;
}

std::optional<DumpLine> detail(std::string_view text) {
  if (!text.starts_with("Python v") && !text.starts_with("[New LWP") && !text.starts_with("Threads matching")) {
    return std::nullopt;
  }
  return DumpLine{};
}

}  // namespace

std::optional<DumpLine> dump_line(std::string_view body) {
  const auto text = trim(body);
  if (text.empty()) return std::nullopt;
  for (const auto& recognise : {pyspy_thread, pyspy_process, python_thread, gdb_line, eu_stack_line, kernel_line,
                                state_line, python_note, detail, rank_title}) {
    if (auto found = recognise(text)) return found;
  }
  return std::nullopt;
}

}  // namespace holter::formats::stacks
