// SPDX-License-Identifier: Apache-2.0
#include "base/cursor.h"
#include "base/pci.h"
#include "formats/kernel/families.h"
#include "formats/kernel/xid_line.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

void add_xid_fields(const Input& in, model::Event& e, const XidLine& x) {
  in.add(e, "pci", x.pci);
  in.add(e, "mig", x.mig);
  in.add(e, "pid", x.pid);
  in.add(e, "name", x.name);
  in.add(e, "text", x.text);
  if (x.caused_by >= 0) in.add(e, "caused_by", std::to_string(x.caused_by));
  in.add(e, "fatality", x.fatality);
  in.add(e, "unit", x.unit);
  if (x.link >= 0) in.add(e, "link", std::to_string(x.link));
  in.add(e, "registers", x.registers);
  e.gpu = in.out.intern(x.pci);
  e.pid = base::to_int<std::int32_t>(x.pid).value_or(-1);
}

// The first PCI address in a message: "GPU 0000:b2:00.0: ...", "GPU at PCI:0000:9b:00: ..."
std::string pci_in(std::string_view text) {
  for (auto word : base::split_blanks(text)) {
    if (word.starts_with("PCI:")) word.remove_prefix(4);
    while (!word.empty() && (word.back() == ':' || word.back() == ',' || word.back() == ')')) word.remove_suffix(1);
    if (auto pci = base::canonical_pci(word); !pci.empty() && word.size() >= 10) return pci;
  }
  return {};
}

void add_fact(const Input& in, std::string_view key, std::string_view subject, std::string_view value) {
  model::Fact f;
  f.at = text::at(in.line, in.context);
  f.node = in.node;
  f.key = in.out.intern(key);
  f.subject = in.out.intern(subject);
  f.value = in.out.intern(base::ellipsize(base::trim(value), 200));
  f.text = in.out.intern(base::ellipsize(base::trim(in.line.shown()), 400));
  in.out.facts.push_back(f);
}

// "loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build"
bool read_driver(const Input& in) {
  Cursor c(in.text);
  if (!c.skip_past("loading NVIDIA UNIX ") || !c.skip_past(" Module")) return false;
  for (const auto word : base::split_blanks(c.rest())) {
    if (word.find('.') == std::string_view::npos || word.find_first_not_of("0123456789.") != std::string_view::npos)
      continue;
    auto e = in.event("kernel.driver_loaded");
    in.add(e, "version", word);
    in.emit(std::move(e));
    add_fact(in, "version.driver", "", word);
    break;
  }
  return true;
}

// "API mismatch: the client has the version 570.1, but this kernel module has the version 565.2."
bool read_mismatch(const Input& in) {
  Cursor c(in.text);
  if (!c.skip_past("API mismatch")) return false;
  auto e = in.event("kernel.driver_mismatch");
  const auto version = [&c]() {
    auto word = c.skip_past("version ") ? c.until(" ,") : std::string_view();
    if (word.ends_with('.')) word.remove_suffix(1);
    return word;
  };
  in.add(e, "client", version());
  in.add(e, "module", version());
  in.emit(std::move(e));
  return true;
}

// "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)"
bool read_peermem(const Input& in) {
  for (const auto* module : {"nvidia_peermem", "nv_peer_mem", "nvidia-peermem"}) {
    Cursor c(in.text);
    if (!c.skip_past(module)) continue;
    auto e = in.event("kernel.peermem");
    in.add(e, "module", module);
    in.add(e, "symbol", base::between(c.rest(), "Unknown symbol ", " "));
    in.add(e, "error", base::between(c.rest(), "(err ", ")"));
    in.emit(std::move(e));
    return true;
  }
  return false;
}

bool read_other(const Input& in) {
  const auto simple = [&](std::string_view kind) {
    auto e = in.event(kind);
    const auto pci = pci_in(in.text);
    in.add(e, "pci", pci);
    in.add(e, "text", in.text);
    e.gpu = in.out.intern(pci);
    in.emit(std::move(e));
    return true;
  };
  if (in.has("RmInitAdapter failed") || in.has("rm_init_adapter failed") || in.has("probe routine failed")) {
    return simple("kernel.gpu_init_failed");
  }
  if (in.has("NV_ERR_RESET_REQUIRED") || in.has("Reset required")) return simple("kernel.reset_required");
  if (in.has("Rate limiting GSP RPC error")) return simple("kernel.gsp_rate");
  if (const auto uuid = base::between(in.text, ": GPU-", " "); !uuid.empty() && in.has("GPU at PCI:")) {
    add_fact(in, "gpu.uuid", pci_in(in.text), "GPU-" + std::string(uuid));
    return true;
  }
  return in.has("NVRM:");
}

}  // namespace

bool NvidiaLines::read_xid(const Input& in) {
  const auto x = parse_xid(in.text);
  if (!x) return false;
  auto e = in.event("kernel.xid");
  in.add(e, "xid", std::to_string(x->number));
  add_xid_fields(in, e, *x);
  if (const auto action = parse_recovery_action(x->text)) {
    in.add(e, "action", action->name);
    in.add(e, "action_code", std::to_string(action->code));
  }
  in.emit(std::move(e));
  return true;
}

bool NvidiaLines::read_sxid(const Input& in) {
  const auto x = parse_sxid(in.text);
  if (!x) return false;
  if (x->data) {
    if (last_sxid_ == 0) return true;
    in.add(in.out.events[last_sxid_ - 1], "registers", x->text);
    return true;
  }
  auto e = in.event("kernel.sxid");
  in.add(e, "sxid", std::to_string(x->number));
  add_xid_fields(in, e, *x);
  in.add(e, "switch", x->device);
  in.emit(std::move(e));
  last_sxid_ = in.out.events.size();
  return true;
}

// One line ("GPU 0000:b2:00.0: GPU has fallen off the bus."), or three of which the first names the GPU.
bool NvidiaLines::read_fell_off(const Input& in) {
  if (in.has("The NVIDIA GPU ")) {
    pending_gpu_ = pci_in(in.text);
    pending_line_ = in.line.number;
  }
  if (!in.has("fallen off the bus")) return false;
  auto pci = pci_in(in.text);
  auto e = in.event("kernel.fell_off");
  if (pci.empty() && in.line.number <= pending_line_ + 6) {
    pci = pending_gpu_;
    e.line_count = static_cast<std::uint32_t>(in.line.number - pending_line_ + 1);
    e.at.pos = pending_line_;
  }
  pending_gpu_.clear();
  in.add(e, "pci", pci);
  e.gpu = in.out.intern(pci);
  in.emit(std::move(e));
  return true;
}

bool NvidiaLines::read(const Input& in) {
  return read_xid(in) || read_sxid(in) || read_fell_off(in) || read_driver(in) || read_mismatch(in) ||
         read_peermem(in) || read_other(in);
}

}  // namespace holter::formats::kernel
