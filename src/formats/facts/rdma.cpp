// SPDX-License-Identifier: Apache-2.0
// ibstat, ibv_devinfo, show_gids, perfquery, `rdma link`. Facts ib.<field> with "mlx5_3 port 1" as
// subject, ib.counter.<name>, gid.entry (value "v2 10.1.2.3", context = index).
#include <algorithm>

#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

class Rdma final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return device(body) || rdma_link(body, facts) || gid(body, facts) || counter(body, facts) ||
           field(line, body, facts);
  }

 private:
  std::string subject() const { return port_.empty() ? device_ : device_ + " port " + port_; }

  bool device(std::string_view body) {
    // "CA 'mlx5_0'", "hca_id: mlx5_0", "Infiniband device 'mlx5_0' port 1 status:"
    static const re2::RE2 head(R"(^(?:CA '([^']+)'|hca_id:\s*(\S+)|Infiniband device '([^']+)' port (\d+) status:)$)");
    re2::StringPiece a, b, c, port;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), head, &a, &b, &c, &port)) return false;
    device_ = std::string(!a.empty() ? sv(a) : !b.empty() ? sv(b) : sv(c));
    port_ = std::string(sv(port));
    return true;
  }

  // "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0"
  static bool rdma_link(std::string_view body, FactWriter& facts) {
    static const re2::RE2 link(R"(^link (\w+)/(\d+) (?:.*)?state (\w+) physical_state (\w+).*$)");
    re2::StringPiece dev, port, state, physical;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), link, &dev, &port, &state, &physical))
      return false;
    const std::string subject = std::string(sv(dev)) + " port " + std::string(sv(port));
    facts.add("ib.state", sv(state), subject);
    facts.add("ib.physical_state", sv(physical), subject);
    return true;
  }

  // "mlx5_0  1  3  0000:0000:0000:0000:0000:ffff:0a01:0203  10.1.2.3  v2  eth0"
  static bool gid(std::string_view body, FactWriter& facts) {
    const auto f = base::split_blanks(body);
    if (f.size() >= 4 && f[0] == "DEV" && f[1] == "PORT") return true;
    if (f.size() < 4 || !base::to_int<int>(f[1]) || !base::to_int<int>(f[2]) ||
        std::count(f[3].begin(), f[3].end(), ':') != 7)
      return false;
    std::string value;
    for (std::size_t i = 4; i < f.size(); ++i) value += (value.empty() ? "" : " ") + std::string(f[i]);
    facts
        .add("gid.entry", value.empty() ? f[3] : std::string_view(value),
             std::string(f[0]) + " port " + std::string(f[1]))
        .context = facts.evidence().intern("index " + std::string(f[2]));
    return true;
  }

  // perfquery: "SymbolErrorCounter:..............0"
  bool counter(std::string_view body, FactWriter& facts) const {
    static const re2::RE2 row(R"(^([A-Z]\w+):\.{2,}(\S+)$)");
    re2::StringPiece name, value;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), row, &name, &value)) return false;
    facts.add("ib.counter." + key_of(sv(name)), sv(value), subject());
    return true;
  }

  bool field(std::string_view line, std::string_view body, FactWriter& facts) {
    if (device_.empty()) return false;
    const auto colon = body.find(':');
    if (colon == std::string_view::npos || line.find_first_of(" \t") != 0) {
      device_.clear();
      return false;
    }
    const auto name = body.substr(0, colon), value = base::trim(body.substr(colon + 1));
    if (name == "port" || name.starts_with("Port ")) {
      port_ = std::string(name == "port" ? value : name.substr(5));
      return true;
    }
    static constexpr std::string_view kKept[] = {"State",  "Physical state",   "Rate",       "Link layer",
                                                 "state",  "active_mtu",       "max_mtu",    "link_layer",
                                                 "fw_ver", "Firmware version", "phys state", "rate"};
    for (const auto kept : kKept) {
      if (name == kept) facts.add("ib." + key_of(name == "phys state" ? "physical state" : name), value, subject());
    }
    return true;
  }

  std::string device_, port_;
};

}  // namespace

std::unique_ptr<Recogniser> make_rdma() { return std::make_unique<Rdma>(); }

}  // namespace holter::formats::facts
