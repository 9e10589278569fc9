// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/kernel_log.h"

#include "formats/kernel/families.h"

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
            "AER:",
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
            "nvme",
            "-fs error",
            "filesystem read-only",
            "XFS (",
            "BTRFS error",
            "fallen off the bus",
            "API mismatch"};
  }

  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override {
    const auto prefix = split_prefix(line.body);
    const auto time = line.time.comparable() || prefix.time.kind == model::TimeKind::kNone ? line.time : prefix.time;
    Input in{prefix.message, node_of(line, prefix, context, out), time, line, context, out};
    const bool read =
        nvidia_.read(in) || oom_.read(in) || read_host_line(in) || read_link_line(in) || read_storage_line(in);
    if (read && context.file) context.file->counts["kernel lines"]++;
  }

 private:
  static model::StrId node_of(const text::Line& line, const Prefix& prefix, FileContext context, model::Evidence& out) {
    if (!prefix.host.empty()) return out.intern(prefix.host);
    if (line.node != model::StrId::kEmpty) return line.node;
    return context.file ? context.file->name_node : model::StrId::kEmpty;
  }

  NvidiaLines nvidia_;
  OomLines oom_;
};

}  // namespace

std::unique_ptr<text::LineParser> make_parser() { return std::make_unique<Parser>(); }

}  // namespace holter::formats::kernel
