// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl/error_lines.h"

#include <algorithm>

#include "base/cursor.h"
#include "base/strings.h"

namespace holter::formats::nccl {

namespace {

using base::Cursor;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct StatusName {
  std::string_view number, name;
};
// enum ibv_wc_status of libibverbs.
constexpr StatusName kStatus[] = {
    {"1", "local length"},         {"2", "local QP operation"},          {"4", "local protection"},
    {"5", "work request flushed"}, {"9", "remote invalid request"},      {"10", "remote access"},
    {"11", "remote operation"},    {"12", "transport retries exceeded"}, {"13", "receiver-not-ready retries exceeded"},
    {"21", "general error"}};

// The value behind a key in either form: "status=12", "status=IBV_WC_RETRY_EXC_ERR(12)", "error 12,".
std::string_view number_of(std::string_view text, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) {
    auto value = base::between(text, key, ", ");
    if (value.empty()) continue;
    if (const auto open = value.find('('); open != std::string_view::npos && value.ends_with(')')) {
      value = value.substr(open + 1, value.size() - open - 2);
    }
    return value;
  }
  return {};
}

bool read_completion(const Input& in) {
  const auto m = in.head.message;
  if (!has(m, "Got completion from peer")) return false;
  auto e = in.event("nccl.ib_completion");
  in.add_field(e, "peer", base::between(m, "from peer ", " ,"));
  const auto status = number_of(m, {"status=", "with error "});
  in.add_field(e, "status", status);
  for (const auto& s : kStatus) {
    if (s.number == status) in.add_field(e, "status_name", s.name);
  }
  in.add_field(e, "vendor_err", number_of(m, {"vendor err ", "vendor_err="}));
  in.add_field(e, "opcode", number_of(m, {"opcode=", "opcode "}));
  if (has(m, "(Send)") || has(m, "=Send")) in.add_field(e, "type", "send");
  if (has(m, "(Recv)") || has(m, "=Recv")) in.add_field(e, "type", "receive");
  in.add_field(e, "hca", base::between(m, " hca ", " ,"));
  in.add_field(e, "local_gid", base::between(m, "localGid ", " ,"));
  in.add_field(e, "remote_gid", base::between(m, "remoteGids ", " ,"));
  in.out.events.push_back(std::move(e));
  return true;
}

// "NET/IB : mlx5_3:1 Got async event : port error", "NET/IB : mlx5_0:1 async fatal event on QP (0x1): .."
bool read_async(const Input& in) {
  const auto m = in.head.message;
  const bool gid = has(m, "GID table changed");
  if (!has(m, "async") && !gid) return false;
  if (!has(m, "event") && !gid) return false;
  auto e = in.event("nccl.async_event");
  Cursor c(m);
  if (c.eat("NET/IB")) {
    c.until(":");
    c.eat(":");
    const auto place = c.word();
    if (const auto colon = place.rfind(':'); colon != std::string_view::npos && colon > 0) {
      in.add_field(e, "device", place.substr(0, colon));
      in.add_field(e, "port", place.substr(colon + 1));
    }
  }
  const auto colon = m.rfind(':');
  const auto tail = gid ? std::string_view("GID table changed")
                        : base::trim(colon == std::string_view::npos ? m : m.substr(colon + 1));
  in.add_field(e, "event", tail);
  if (has(m, "non-fatal")) in.add_field(e, "fatality", "non-fatal");
  else if (has(m, "fatal")) in.add_field(e, "fatality", "fatal");
  in.out.events.push_back(std::move(e));
  return true;
}

std::string_view error_class(std::string_view text) {
  if (base::contains_ignore_case(text, "refused")) return "refused";
  if (base::contains_ignore_case(text, "reset by peer") || base::contains_ignore_case(text, "broken pipe"))
    return "reset";
  if (base::contains_ignore_case(text, "closed by")) return "closed";
  if (base::contains_ignore_case(text, "timed out") || base::contains_ignore_case(text, "timeout")) return "timeout";
  if (base::contains_ignore_case(text, "no route") || base::contains_ignore_case(text, "unreachable"))
    return "unreachable";
  return "other";
}

// The first word that looks like an address: "10.0.0.1<4000>", "localhost<45786>", "[fe80::1]<40>".
std::string_view address_in(std::string_view text) {
  for (auto word : base::split_blanks(text)) {
    while (!word.empty() && (word.back() == ',' || word.back() == '.')) word.remove_suffix(1);
    if (word.ends_with('>') && word.find('<') != std::string_view::npos && word.find('<') > 0) return word;
  }
  return {};
}

bool read_socket(const Input& in) {
  const auto m = in.head.message;
  const auto peer = address_in(m);
  const auto kind = error_class(m);
  const bool connects = has(m, "onnect") || has(m, "Call to ") || has(m, "socket") || has(m, "Bootstrap");
  if (kind == "other" ? peer.empty() || !has(m, "Call to ") : !connects) return false;
  if (has(m, "ibv_")) return false;
  auto e = in.event("nccl.socket_error");
  in.add_field(e, "peer", peer);
  in.add_field(e, "call", base::between(m, "Call to ", " "));
  in.add_field(e, "error", kind);
  if (const auto at = m.rfind(" : "); at != std::string_view::npos) in.add_field(e, "reason", m.substr(at + 3));
  in.out.events.push_back(std::move(e));
  return true;
}

// "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, ... local GID index 3, .."
bool read_ib_call(const Input& in) {
  const auto m = in.head.message;
  const auto call = base::between(m, "Call to ibv_", " ");
  if (call.empty()) return false;
  auto e = in.event("nccl.ib_call");
  in.add_field(e, "call", call);
  Cursor reason(m);
  if (reason.skip_past("failed with ")) {
    reason.eat("error ");
    in.add_field(e, "reason", reason.until(",("));
  }
  in.add_field(e, "device", base::between(m, "on dev ", ","));
  in.add_field(e, "gid_index", base::between(m, "GID index ", ","));
  const auto after_index = m.substr(std::min(m.find("GID index "), m.size()));
  in.add_field(e, "local_gid", base::between(after_index.empty() ? m : after_index, "local GID ", ","));
  in.add_field(e, "remote_gid", base::between(m, "remote GID ", ", "));
  in.out.events.push_back(std::move(e));
  return true;
}

bool read_duplicate_gpu(const Input& in) {
  const auto m = in.head.message;
  if (!has(m, "Duplicate GPU detected")) return false;
  auto e = in.event("nccl.duplicate_gpu");
  Cursor c(m);
  if (c.skip_past("rank ")) in.add_field(e, "first", c.until(" "));
  if (c.skip_past("rank ")) in.add_field(e, "second", c.until(" "));
  in.add_field(e, "device", base::between(m, "CUDA device ", " "));
  in.out.events.push_back(std::move(e));
  return true;
}

struct Plain {
  std::string_view part, kind;
};
constexpr Plain kPlain[] = {{"no socket interface found", "nccl.no_interface"},
                            {"ismatched NCCL version", "nccl.version_mismatch"},
                            {"ersion mismatch", "nccl.version_mismatch"},
                            {"essage truncated", "nccl.truncated"},
                            {"NVLink SHARP", "nccl.nvls_bind"},
                            {"multicast", "nccl.nvls_bind"},
                            {"Cuda failure", "nccl.cuda_failure"},
                            {"CUDA failure", "nccl.cuda_failure"}};

bool read_plain(const Input& in) {
  for (const auto& p : kPlain) {
    if (!has(in.head.message, p.part)) continue;
    auto e = in.event(p.kind);
    in.add_field(e, "error", base::between(in.head.message, "'", "'"));
    in.out.events.push_back(std::move(e));
    return true;
  }
  return false;
}

}  // namespace

void read_warning(const Input& in) {
  if (read_completion(in) || read_ib_call(in) || read_duplicate_gpu(in) || read_plain(in) || read_async(in) ||
      read_socket(in)) {
    return;
  }
  in.out.events.push_back(in.event("nccl.warn"));
}

bool read_info_error(const Input& in) {
  const auto m = in.head.message;
  if (const auto p = parse_propagation(m)) {
    auto e = in.event("nccl.propagation");
    in.add_field(e, "code", std::to_string(p->code));
    in.add_field(e, "place", p->where);
    in.out.events.push_back(std::move(e));
    return true;
  }
  if (has(m, "Got async event") || has(m, "async fatal event") || has(m, "non-fatal async")) return read_async(in);
  if (has(m, "Connection refused") || has(m, "No route to host") || has(m, "Connection timed out"))
    return read_socket(in);
  return false;
}

}  // namespace holter::formats::nccl
