// SPDX-License-Identifier: Apache-2.0
// The families of kernel messages; each returns true when the line was one of its own. Kinds of events
// and their fields:
//   kernel.xid            xid pci pid name text caused_by fatality unit link registers mig action
//   kernel.sxid           sxid pci switch fatality link text registers
//   kernel.fell_off       pci                      kernel.gpu_init_failed  pci text
//   kernel.reset_required pci text                 kernel.driver_mismatch  client module
//   kernel.peermem        module symbol error      kernel.driver_loaded    version
//   kernel.gsp_rate       pci
//   kernel.oom_kill       task pid constraint cgroup uid anon_rss_kb       kernel.oom_invoked  task
//   kernel.hung_task      task pid seconds         kernel.soft_lockup      cpu seconds task pid
//   kernel.hard_lockup    cpu                      kernel.rcu_stall
//   kernel.aer            device severity          kernel.mce              text
//   kernel.edac           text corrected           kernel.panic            text
//   kernel.crash          task pid kind module     kernel.thermal          text
//   kernel.link           device port state driver kernel.nic_health       device text
//   kernel.storage        server state kind        kernel.fs_error         text
#pragma once

#include <string>
#include <unordered_map>

#include "formats/kernel/input.h"

namespace holter::formats::kernel {

class NvidiaLines {
 public:
  bool read(const Input& in);

 private:
  bool read_xid(const Input& in);
  bool read_sxid(const Input& in);
  bool read_fell_off(const Input& in);

  std::string pending_gpu_;  // "The NVIDIA GPU D:B:D.0" waits for "fallen off the bus"
  std::uint64_t pending_line_ = 0;
  std::size_t last_sxid_ = 0;  // index + 1 of the event that data lines belong to
};

class OomLines {
 public:
  bool read(const Input& in);

 private:
  // Both lines of one kill become one event: process id -> index of the event.
  std::unordered_map<std::string, std::size_t> kills_;
};

bool read_host_line(const Input& in);     // lockups, AER, machine checks, crashes
bool read_link_line(const Input& in);     // network and InfiniBand ports
bool read_storage_line(const Input& in);  // NFS, Lustre, disks, file systems

}  // namespace holter::formats::kernel
