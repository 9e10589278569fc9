// SPDX-License-Identifier: Apache-2.0
// lspci -vv: facts pci.acs (flags; number 1 when requests or completions are redirected), pci.link_cap
// and pci.link_sta ("32GT/s x16"), pci.absent (rev ff, header type 7f), with the address as subject.
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

class Pci final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    if (device(line, facts)) return true;
    if (address_.empty()) return false;
    const auto body = base::trim(line);
    if (body.empty()) return false;
    if (body.starts_with("ACSCtl:")) {
      const auto flags = base::trim(body.substr(7));
      const bool redirect =
          flags.find("ReqRedir+") != std::string_view::npos || flags.find("CmpltRedir+") != std::string_view::npos;
      facts.add("pci.acs", redirect ? 1 : 0, flags, address_).context = facts.evidence().intern(name_);
      return true;
    }
    if (body.starts_with("LnkCap:") || body.starts_with("LnkSta:")) return link(body, facts);
    if (body.find("Unknown header type 7f") != std::string_view::npos) {
      facts.add("pci.absent", "header type 7f", address_).context = facts.evidence().intern(name_);
      return true;
    }
    // Other lines of the device.
    return line[0] == '\t' || line.starts_with("  ");
  }

 private:
  bool device(std::string_view line, FactWriter& facts) {
    static const re2::RE2 head(
        R"(^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z0-9][^:\[]*)(?: \[[0-9a-f]{4}\])?: (.*)$)");
    re2::StringPiece address, kind, name;
    if (!re2::RE2::FullMatch(re2::StringPiece(line.data(), line.size()), head, &address, &kind, &name)) return false;
    address_ = std::string(sv(address));
    name_ = std::string(sv(kind)) + ": " + std::string(sv(name));
    const bool gpu =
        sv(kind).find("controller") != std::string_view::npos && sv(name).find("NVIDIA") != std::string_view::npos;
    if (gpu) facts.add("pci.gpu", sv(name), address_);
    if (sv(name).find("(rev ff)") != std::string_view::npos)
      facts.add("pci.absent", "rev ff", address_).context = facts.evidence().intern(name_);
    return true;
  }

  bool link(std::string_view body, FactWriter& facts) const {
    static const re2::RE2 parts(R"(Speed ([0-9.]+)GT/s(?: \(\w+\))?, Width x(\d+))");
    double speed = 0;
    int width = 0;
    if (!re2::RE2::PartialMatch(re2::StringPiece(body.data(), body.size()), parts, &speed, &width)) return true;
    const bool cap = body.starts_with("LnkCap:");
    facts.add(cap ? "pci.link_cap_gts" : "pci.link_sta_gts", speed, std::to_string(speed), address_).context =
        facts.evidence().intern(name_);
    facts.add(cap ? "pci.link_cap_width" : "pci.link_sta_width", width, "x" + std::to_string(width), address_).context =
        facts.evidence().intern(name_);
    return true;
  }

  std::string address_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Recogniser> make_pci() { return std::make_unique<Pci>(); }

}  // namespace holter::formats::facts
