// SPDX-License-Identifier: Apache-2.0
// One kind of command output or note. A recogniser sees lines in order, says which are its own and
// turns them into facts; it keeps what it needs between lines (a table header, an open device).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "formats/facts/fact_writer.h"

namespace holter::formats::facts {

class Recogniser {
 public:
  virtual ~Recogniser() = default;
  // True when the line belongs to this recogniser. `line` keeps its leading blanks and has no host
  // prefix any more.
  virtual bool on_line(std::string_view line, FactWriter& facts) = 0;
};

using Recognisers = std::vector<std::unique_ptr<Recogniser>>;

std::unique_ptr<Recogniser> make_limits();       // ulimit -a, /proc/PID/limits, LimitMEMLOCK=
std::unique_ptr<Recogniser> make_filesystems();  // df, mount, /proc/mounts
std::unique_ptr<Recogniser> make_host();         // meminfo, uname, kernel command line, IOMMU, hosts
std::unique_ptr<Recogniser> make_modules();      // lsmod, modprobe, unknown symbols
std::unique_ptr<Recogniser> make_placement();    // rank maps, inventories
std::unique_ptr<Recogniser> make_pci();          // lspci -vv
std::unique_ptr<Recogniser> make_gpu_list();     // nvidia-smi -L, nvlink -s, topo -m
std::unique_ptr<Recogniser> make_gpu_query();    // nvidia-smi -q
std::unique_ptr<Recogniser> make_gpu_screen();   // nvidia-smi
std::unique_ptr<Recogniser> make_gpu_xml();      // nvidia-smi -q -x
std::unique_ptr<Recogniser> make_dcgm();         // dcgmi diag and health tables
std::unique_ptr<Recogniser> make_rdma();         // ibstat, ibv_devinfo, show_gids, perfquery
std::unique_ptr<Recogniser> make_services();     // systemctl status, ss -tnlp, cgroup cpu.stat
std::unique_ptr<Recogniser> make_versions();     // pip freeze, dpkg -l, driver versions
std::unique_ptr<Recogniser> make_prometheus();   // text exposition
std::unique_ptr<Recogniser> make_environment();  // NAME=value
std::unique_ptr<Recogniser> make_gpu_memory();   // PyTorch out-of-memory text

// All of the above, in the order in which they are asked.
Recognisers make_recognisers();

// "key: value", "key = value", "kv usage 0.38, preemptions 0": what people write down. Facts kv.*;
// every other line of a small file of notes becomes a fact "note". Returns false for a line that
// does not look written by a person or a counter.
bool add_note(std::string_view line, FactWriter& facts);

}  // namespace holter::formats::facts
