// SPDX-License-Identifier: Apache-2.0
// Sections and sentences as in NCCL's src/ras/client_support.cc, 2.24 to 2.30.
#include "formats/ras/ras_text.h"

#include <algorithm>

#include "base/strings.h"
#include "formats/ras/ras_common.h"

namespace holter::formats::ras {

namespace {

constexpr std::size_t kMaxText = 512;
constexpr std::size_t kMaxRanks = std::size_t{1} << 20;

std::int32_t number_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return -1;
  const auto fields = base::split_blanks(text.substr(at + word.size()));
  return fields.empty() ? -1 : base::to_int<std::int32_t>(fields[0]).value_or(-1);
}

std::string_view word_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return {};
  const auto fields = base::split_blanks(text.substr(at + word.size()));
  return fields.empty() ? std::string_view() : fields[0];
}

}  // namespace

void TextReply::on_line(std::string_view line, std::uint64_t number) {
  if (starts(line)) {
    reply_.nccl_version = out_.intern(word_after(line, "NCCL version "));
  } else if (line.starts_with("Communicators...")) {
    section_ = Section::kComms;
  } else if (line == "Errors") {
    section_ = Section::kErrors;
  } else if (line == "Warnings") {
    section_ = Section::kWarnings;
    saw_warnings_ = true;
  } else if (section_ == Section::kComms) {
    comm_row(line);
  } else if (section_ == Section::kErrors || section_ == Section::kWarnings) {
    if (!line.empty() && line.front() != ' ' && line.front() != '=') block_head(line);
    else if (!base::trim(line).empty() && line.front() == ' ') block_line(line, number);
  }
}

// Group, comms in group, nodes per comm, ranks per node, ranks per comm, ranks in group, status, errors.
void TextReply::comm_row(std::string_view line) {
  const auto fields = base::split_blanks(line);
  if (fields.size() < 7) return;
  const auto group = base::to_int<std::int32_t>(fields[0]);
  const auto comms = base::to_int<std::int32_t>(fields[1]);
  const auto size = base::to_int<std::int32_t>(fields[4]);
  const auto ranks = base::to_int<std::int32_t>(fields[5]);
  if (!group || !comms || *comms <= 0) return;
  group_comm_[*group] = reply_.comms.size();
  auto& comm = reply_.comms.emplace_back();
  comm.size = size.value_or(-1);
  if (ranks && *ranks % *comms == 0) comm.ranks_seen = *ranks / *comms;
  comm.status = out_.intern(fields[6]);
  if (fields.size() > 7 && fields[7] != "OK") comm.errors = out_.intern(fields[7]);
}

// "INCOMPLETE", "DEAD", "TIMEOUT" of the job, or "#0-1 (e5a115d6fc9be235) MISMATCH" of a communicator.
void TextReply::block_head(std::string_view line) {
  op_ = -1;
  count_ = -1;
  has_comm_ = line.front() == '#';
  if (!has_comm_) {
    block_ = base::trim(line);
    return;
  }
  const auto open = line.find('('), close = line.find(')');
  const auto dash = line.find('-');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || dash > open) {
    has_comm_ = false;
    return;
  }
  const auto group = base::to_int<std::int32_t>(line.substr(1, dash - 1)).value_or(-1);
  auto& comm = comm_of(group, bare_hash(line.substr(open + 1, close - open - 1)));
  comm_ = static_cast<std::size_t>(&comm - reply_.comms.data());
  block_ = base::trim(line.substr(close + 1));
  if (comm.errors == model::StrId::kEmpty) comm.errors = out_.intern(block_);
}

// The row of a group stands for its communicators until one of them is named.
model::RasComm& TextReply::comm_of(std::int32_t group, std::string_view hash) {
  const auto id = out_.intern(hash);
  for (auto& comm : reply_.comms) {
    if (comm.hash == id) return comm;
  }
  const auto row = group_comm_.find(group);
  if (row == group_comm_.end()) {
    auto& comm = reply_.comms.emplace_back();
    comm.hash = id;
    return comm;
  }
  auto& first = reply_.comms[row->second];
  if (first.hash == model::StrId::kEmpty) {
    first.hash = id;
    return first;
  }
  model::RasComm comm;
  comm.hash = id;
  comm.size = first.size;
  comm.status = first.status;
  reply_.comms.push_back(std::move(comm));
  return reply_.comms.back();
}

model::RasRank& TextReply::rank_of(model::RasComm& comm, std::int32_t rank) {
  for (auto& r : comm.ranks) {
    if (r.rank == rank) return r;
  }
  auto& added = comm.ranks.emplace_back();
  added.rank = rank;
  return added;
}

void TextReply::block_line(std::string_view line, std::uint64_t number) {
  const auto text = base::trim(line);
  if (has_comm_ && section_ == Section::kWarnings && reply_.comms[comm_].warnings.size() < 1000) {
    reply_.comms[comm_].warnings.push_back(out_.intern(base::ellipsize(text, kMaxText)));
  }
  if (text.starts_with("Encountered ") && text.find("timeout") != std::string_view::npos) {
    reply_.timeouts = std::max(0, number_after(text, "Encountered "));
  } else if (text.starts_with("Process ")) {
    process_line(text);
  } else if (text.find("launched up to operation") != std::string_view::npos) {
    launched_line(text);
  } else if (text.starts_with("Rank ") && text.find(" -- ") != std::string_view::npos) {
    rank_line(text, number);
  } else if (text.find("operation counts") != std::string_view::npos) {
    op_ = op_index(word_after(text, "different "));
    count_ = -1;
  } else if (text.find("status") != std::string_view::npos) {
    count_ = -1;
  }
}

// "26 ranks have launched up to operation 6650" or "Rank 5 has launched up to operation 3".
void TextReply::launched_line(std::string_view text) {
  count_ = number_after(text, "up to operation ");
  if (!has_comm_ || count_ < 0) return;
  auto& comm = reply_.comms[comm_];
  if (text.starts_with("Rank ")) {
    const auto number = number_after(text, "Rank ");
    if (number < 0) return;
    auto& rank = rank_of(comm, number);
    (op_ >= 0 ? rank.counts[static_cast<std::size_t>(op_)] : rank.launched) = count_;
    comm.launched.push_back({1, op_, count_});
    return;
  }
  const auto ranks = base::to_int<std::int32_t>(base::split_blanks(text)[0]).value_or(0);
  comm.launched.push_back({ranks, op_, count_});
}

// "Rank 5 -- GPU 1 managed by process 18259 on node 127.0.0.1".
void TextReply::rank_line(std::string_view text, std::uint64_t number) {
  const auto id = number_after(text, "Rank ");
  if (!has_comm_ || id < 0 || reply_.comms[comm_].ranks.size() >= kMaxRanks) return;
  auto& rank = rank_of(reply_.comms[comm_], id);
  rank.cuda_dev = number_after(text, "GPU ");
  rank.nvml_dev = rank.cuda_dev;
  rank.pid = number_after(text, "process ");
  rank.host = out_.intern(word_after(text, "on node "));
  rank.line = number;
  rank.text = out_.intern(base::ellipsize(text, kMaxText));
  if (block_ == "INCOMPLETE") rank.missing = true;
  if (count_ >= 0) (op_ >= 0 ? rank.counts[static_cast<std::size_t>(op_)] : rank.launched) = count_;
}

// "Process 18259 on node 127.0.0.1 managing GPU 1": of the job, before the communicators.
void TextReply::process_line(std::string_view text) {
  const std::pair process(out_.intern(word_after(text, "on node ")), number_after(text, "Process "));
  (block_ == "DEAD" ? dead_ : silent_).insert(process);
}

model::RasReply TextReply::finish() {
  for (auto& comm : reply_.comms) {
    for (auto& rank : comm.ranks) {
      const std::pair process(rank.host, rank.pid);
      if (dead_.count(process) > 0) rank.dead = true;
      if (silent_.count(process) > 0) rank.unresponsive = true;
    }
  }
  return std::move(reply_);
}

}  // namespace holter::formats::ras
