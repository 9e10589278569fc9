// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/xid_line.h"

#include "base/cursor.h"
#include "base/pci.h"
#include "base/strings.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

// "(PCI:0000:c4:00 GPU-I:05): " -> address and MIG instance
bool parse_address(Cursor& c, XidLine& out) {
  if (!c.eat("(")) return false;
  c.eat("PCI:");
  out.pci = base::canonical_pci(c.until(" )"));
  c.blanks();
  out.mig = base::trim(c.until(")"));
  return c.eat("):") && (!out.pci.empty() || !out.mig.empty());
}

std::string_view known(std::string_view value) {
  value = base::trim(value);
  if (!value.empty() && value.front() == '\'') value = value.substr(1, value.rfind('\'') - 1);
  return value == "<unknown>" ? std::string_view() : value;
}

void parse_process(Cursor& c, XidLine& out) {
  if (c.eat("pid=")) {
    out.pid = known(c.until(","));
    c.eat(",");
    c.blanks();
  }
  if (c.eat("name=")) {
    out.name = known(c.until(","));
    c.eat(",");
    c.blanks();
  }
}

bool is_fatality(std::string_view word) {
  return word == "Fatal" || word == "Nonfatal" || word == "Non-fatal" || word == "Correctable";
}

// "NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x025001c6 ...)", "MSE Degraded Fatal XC0 ..."
void parse_nvlink5(XidLine& out) {
  Cursor c(out.text);
  const auto start = out.text.data();
  for (int words = 0; words < 3; ++words) {
    const auto word = c.word();
    if (!is_fatality(word)) continue;
    out.fatality = word;
    out.unit = base::trim(out.text.substr(0, static_cast<std::size_t>(word.data() - start)));
    break;
  }
}

void parse_parenthesis(XidLine& out) {
  const auto open = out.text.find("(0x");
  if (open == std::string_view::npos) return;
  const auto close = out.text.find(')', open);
  out.registers = out.text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
}

void parse_link(XidLine& out) {
  for (const auto key : {"Link ", "link "}) {
    Cursor c(out.text);
    if (!c.skip_past(key)) continue;
    if (const auto link = c.number<int>()) {
      out.link = *link;
      return;
    }
  }
}

void parse_unit(XidLine& out) {
  if (out.number >= 144 && out.number <= 150) return parse_nvlink5(out);
  if (const auto at = out.text.find("(GPC "); at != std::string_view::npos) {
    out.unit = base::between(out.text.substr(at), "(", ")");
  } else if (out.text.starts_with("Contained: ") || out.text.starts_with("Uncontained: ")) {
    Cursor c(out.text);
    c.skip_past(": ");
    out.unit = base::trim(c.until(".("));
  }
}

void parse_details(XidLine& out) {
  Cursor c(out.text);
  if (c.skip_past("caused by previous Xid ")) out.caused_by = c.number<int>().value_or(-1);
  parse_unit(out);
  parse_link(out);
  parse_parenthesis(out);
}

// The driver's tracepoint, as trace-cmd and perf print it: "nvidia_dev_xid: dev=0000:c4:00.0 error_code=79 msg=.."
std::optional<XidLine> parse_tracepoint(std::string_view message) {
  Cursor c(message);
  if (!c.skip_past("nvidia_dev_xid:")) return std::nullopt;
  XidLine out;
  out.pci = base::canonical_pci(base::between(c.rest(), "dev=", " ,"));
  const auto code = base::to_int<int>(base::between(c.rest(), "error_code=", " ,"));
  if (!code) return std::nullopt;
  out.number = *code;
  if (c.skip_past("msg=")) out.text = base::trim(c.rest());
  parse_details(out);
  return out;
}

}  // namespace

std::optional<XidLine> parse_xid(std::string_view message) {
  Cursor c(message);
  if (!c.skip_past("Xid ")) return parse_tracepoint(message);
  if (message.find("SXid") != std::string_view::npos) return std::nullopt;
  XidLine out;
  if (!parse_address(c, out)) return std::nullopt;
  c.blanks();
  const auto number = c.number<int>();
  if (!number || *number < 0) return std::nullopt;
  out.number = *number;
  c.eat(",");
  c.blanks();
  parse_process(c, out);
  out.text = base::trim(c.rest());
  parse_details(out);
  return out;
}

std::optional<SxidLine> parse_sxid(std::string_view message) {
  Cursor c(message);
  const auto at = message.find("SXid ");
  if (at == std::string_view::npos) return std::nullopt;
  SxidLine out;
  if (const auto device = message.find("nvidia-nvswitch"); device < at) {
    out.device = message.substr(device, message.find(':', device) - device);
  }
  c.skip_past("SXid ");
  if (!parse_address(c, out)) return std::nullopt;
  c.blanks();
  const auto number = c.number<int>();
  if (!number || *number < 0) return std::nullopt;
  out.number = *number;
  c.eat(",");
  c.blanks();
  Cursor word = c;
  if (const auto fatality = word.until(", "); is_fatality(fatality)) {
    out.fatality = fatality;
    word.eat(",");
    word.blanks();
    c = word;
  }
  out.text = base::trim(c.rest());
  out.data = out.fatality.empty() && (out.text.starts_with("Data") || out.text.starts_with("Severity"));
  parse_link(out);
  return out;
}

std::optional<RecoveryAction> parse_recovery_action(std::string_view text) {
  Cursor c(text);
  if (!c.skip_past("recovery action changed from") || !c.skip_past(" to ")) return std::nullopt;
  c.eat("0x");
  RecoveryAction out;
  out.code = c.number<int>(16).value_or(-1);
  if (c.skip_past("(")) out.name = c.until(")");
  return out;
}

std::vector<std::uint32_t> register_words(std::string_view registers) {
  std::vector<std::uint32_t> out;
  Cursor c(registers);
  while (out.size() < 16 && c.skip_past("0x")) {
    if (const auto v = c.number<std::uint32_t>(16)) out.push_back(*v);
  }
  return out;
}

}  // namespace holter::formats::kernel
