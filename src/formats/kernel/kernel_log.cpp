// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/kernel_log.h"

#include <optional>

#include "formats/kernel/families.h"
#include "formats/text/stance.h"

namespace holter::formats::kernel {

namespace {

class Parser final : public text::LineParser {
 public:
  // Every family's literals. They also occur in other logs (a training log that quotes dmesg), which
  // is welcome.
  std::vector<std::string_view> triggers() const override {
    return {"NVRM:",
            "Xid (",
            "nvidia_dev_xid:",
            "nvidia_peermem",
            "nv_peer_mem",
            "nvidia-peermem",
            "oom-kill",
            "Killed process",
            "Kill process ",
            "blocked for more than",
            "lockup",
            "LOCKUP",
            "detected stall",
            "AER: ",
            "PCIe Bus Error",
            "[Hardware Error]",
            "Machine Check",
            "EDAC ",
            "segfault at",
            "trap invalid",
            "trap divide",
            "general protection",
            "Kernel panic",
            "BUG: unable",
            "above threshold",
            "thermal: critical",
            "mlx5_core",
            "mlx4_core",
            "mlx5_ib",
            "bnxt_",
            "NIC Link is",
            "irdma ",
            "carrier",
            "fs: server ",
            "fs4: server ",
            "FS: server ",
            "Lustre",
            "I/O error, dev",
            "nvme0",
            "nvme1",
            "nvme2",
            "nvme3",
            "nvme4",
            "nvme5",
            "nvme6",
            "nvme7",
            "nvme8",
            "nvme9",
            "-fs error",
            "filesystem read-only",
            "XFS (",
            "BTRFS error",
            "fallen off the bus",
            "API mismatch"};
  }

  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override {
    if (text::stance_of(line.body) == text::Stance::kDenies || text::trains_at_boot(line.raw)) return;
    const auto prefix = split_prefix(line.body);
    const auto time = time_of(line, prefix);
    const auto first = out.events.size();
    Input in{prefix.message, node_of(line, prefix, context, out), time, line, context, out};
    const bool read =
        nvidia_.read(in) || oom_.read(in) || read_host_line(in) || read_link_line(in) || read_storage_line(in);
    if (read && context.file) context.file->counts["kernel lines"]++;
    for (auto i = first; i < out.events.size(); ++i) {
      if (out.events[i].time.kind == model::TimeKind::kMonotonic) undated_.push_back(i);
    }
  }

  void on_end(FileContext, model::Evidence& out) override {
    for (const auto i : undated_) {
      if (booted_ns_) out.events[i].time = dated(out.events[i].time.ns);
    }
  }

 private:
  static model::StrId node_of(const text::Line& line, const Prefix& prefix, FileContext context, model::Evidence& out) {
    if (!prefix.host.empty()) return out.intern(prefix.host);
    if (line.node != model::StrId::kEmpty) return line.node;
    return context.file ? context.file->name_node : model::StrId::kEmpty;
  }

  // A line with both a date and the time since boot dates the others of its file. The kernel's clock
  // drifts against the date over weeks, so the nearest one before counts.
  model::Timestamp time_of(const text::Line& line, const Prefix& prefix) {
    const bool own = line.time.comparable() && !line.time_inherited;
    const auto date = own || prefix.time.kind == model::TimeKind::kNone ? line.time : prefix.time;
    if (prefix.boot_ns < 0) return line.time.comparable() ? line.time : date;
    if (date.kind == model::TimeKind::kUnix) booted_ns_ = date.ns - prefix.boot_ns;
    if (date.comparable() || !booted_ns_) return line.time.comparable() ? line.time : date;
    return dated(prefix.boot_ns);
  }
  model::Timestamp dated(std::int64_t boot_ns) const { return {*booted_ns_ + boot_ns, model::TimeKind::kUnix}; }

  std::optional<std::int64_t> booted_ns_;  // Unix time of the boot
  std::vector<std::size_t> undated_;       // events of this file with a time since boot only
  NvidiaLines nvidia_;
  OomLines oom_;
};

}  // namespace

std::unique_ptr<text::LineParser> make_parser() { return std::make_unique<Parser>(); }

}  // namespace holter::formats::kernel
