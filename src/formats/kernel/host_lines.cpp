// SPDX-License-Identifier: Apache-2.0
#include "base/cursor.h"
#include "formats/kernel/families.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

// "INFO: task python:4519 blocked for more than 120 seconds."; a task name may hold colons.
bool read_hung_task(const Input& in) {
  Cursor c(in.text);
  if (!c.skip_past("INFO: task ")) return false;
  const auto end = c.rest().find(" blocked for more than ");
  if (end == std::string_view::npos) return false;
  const auto task = c.rest().substr(0, end);
  const auto colon = task.rfind(':');
  if (colon == std::string_view::npos) return false;
  auto e = in.event("kernel.hung_task");
  in.add(e, "task", task.substr(0, colon));
  in.add(e, "pid", task.substr(colon + 1));
  in.add(e, "seconds", base::between(c.rest(), "more than ", " "));
  e.pid = base::to_int<std::int32_t>(task.substr(colon + 1)).value_or(-1);
  in.emit(std::move(e));
  return true;
}

// "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:4519]"
bool read_lockup(const Input& in) {
  const bool soft = in.has("soft lockup");
  if (!soft && !in.has("hard LOCKUP")) return false;
  auto e = in.event(soft ? "kernel.soft_lockup" : "kernel.hard_lockup");
  in.add(e, "cpu", soft ? base::between(in.text, "CPU#", " ") : base::between(in.text, "on cpu ", " "));
  in.add(e, "seconds", base::between(in.text, "stuck for ", "s"));
  const auto task = base::between(in.text, "! [", "]");
  if (const auto colon = task.rfind(':'); colon != std::string_view::npos) {
    in.add(e, "task", task.substr(0, colon));
    in.add(e, "pid", task.substr(colon + 1));
  }
  in.emit(std::move(e));
  return true;
}

bool read_rcu_stall(const Input& in) {
  if (!in.has("detected stall") && !in.has("self-detected stall")) return false;
  if (!in.has("rcu")) return false;
  in.emit(in.event("kernel.rcu_stall"));
  return true;
}

// "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0"
// "nvme 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"
bool read_aer(const Input& in) {
  if (!in.has("AER:") && !in.has("PCIe Bus Error")) return false;
  auto e = in.event("kernel.aer");
  auto device = base::between(in.text, "error received: ", " ");
  if (device.empty()) {
    for (auto word : base::split_blanks(in.text)) {
      if (word.ends_with(':')) word.remove_suffix(1);
      if (word.size() >= 10 && word.size() <= 13 && word[4] == ':' && word[7] == ':') {
        device = word;
        break;
      }
    }
  }
  in.add(e, "device", device);
  in.add(e, "severity",
         in.has("Uncorrect")
             ? (in.has("Non-Fatal") || in.has("Nonfatal") ? "uncorrected non-fatal" : "uncorrected fatal")
             : "corrected");
  in.emit(std::move(e));
  return true;
}

bool read_machine_check(const Input& in) {
  const bool edac = in.text.find("EDAC ") != std::string_view::npos;
  if (!edac && !in.has("[Hardware Error]") && !in.has("Machine Check")) return false;
  if (edac && !in.has(" CE ") && !in.has(" UE ")) return false;
  auto e = in.event(edac ? "kernel.edac" : "kernel.mce");
  in.add(e, "text", in.text);
  if (edac) in.add(e, "corrected", in.has(" UE ") ? "no" : "yes");
  in.emit(std::move(e));
  return true;
}

// "python3[4519]: segfault at 0 ip .. sp .. error 4 in libcuda.so.1[7f..]",
// "traps: python3[4519] trap invalid opcode ip:.. in x.so", "python[7] general protection fault ip:.."
bool read_crash(const Input& in) {
  std::string_view kind;
  for (const auto* k : {"segfault at", "trap invalid opcode", "trap divide error", "general protection"}) {
    if (in.has(k)) kind = k;
  }
  const auto open = in.text.find('['), close = in.text.find(']');
  if (kind.empty() || open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  auto e = in.event("kernel.crash");
  auto task = base::trim(in.text.substr(0, open));
  if (task.starts_with("traps: ")) task.remove_prefix(7);
  in.add(e, "task", task);
  const auto pid = in.text.substr(open + 1, close - open - 1);
  in.add(e, "pid", pid);
  in.add(e, "kind", kind.starts_with("segfault") ? "segfault" : kind);
  in.add(e, "module", base::between(in.text, " in ", "[ "));
  e.pid = base::to_int<std::int32_t>(pid).value_or(-1);
  in.emit(std::move(e));
  return true;
}

bool read_rest(const Input& in) {
  std::string_view kind;
  if (in.has("Kernel panic - not syncing") || in.has("BUG: unable to handle")) kind = "kernel.panic";
  if (in.has("temperature above threshold") || in.has("thermal: critical")) kind = "kernel.thermal";
  if (kind.empty()) return false;
  auto e = in.event(kind);
  in.add(e, "text", in.text);
  in.emit(std::move(e));
  return true;
}

}  // namespace

bool read_host_line(const Input& in) {
  return read_hung_task(in) || read_lockup(in) || read_rcu_stall(in) || read_aer(in) || read_machine_check(in) ||
         read_crash(in) || read_rest(in);
}

}  // namespace holter::formats::kernel
