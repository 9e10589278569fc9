// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/watchdog_parser.h"

#include "base/strings.h"
#include "formats/logs/pattern.h"

namespace holter::formats::logs {

namespace {

using text::Line;

// Values above this are uninitialised memory (seen as "last completed" in 2.3).
constexpr std::int64_t kMaxSeq = std::int64_t{1} << 48;
constexpr std::size_t kMaxText = 400;

std::int64_t sane(std::int64_t seq) { return seq > kMaxSeq ? -1 : seq; }

class WatchdogParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override {
    return {"Watchdog caught",           "NCCL work: ",           "work sequence id",
            "watchdog got stuck",        "dump signal",           "signal dumping",
            "preparing to dump",         "acquire GIL",           "entire process down",
            "following async exception", "remote error detected", "after attempting to dump",
            "Timeout at collective",     "To our best knowledge", " started ranks: ",
            " finished ranks: ",         "monitored_barrier"};
  }
  std::string_view format() const override { return "training-log"; }

  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    if (timeout(line, context, out) || status(line, context, out)) return;
    desync(line, context, out) || event_line(line, context, out);
  }

 private:
  // Fills what the head says: group, group rank, and through them the rank.
  model::WatchdogRecord record(const Line& line, FileContext context, model::Evidence& out) {
    model::WatchdogRecord r;
    r.at = text::at(line, context);
    r.time = line.time;
    r.rank = line.rank;
    r.node = line.node;
    r.repeats = static_cast<std::uint32_t>(line.repeats);
    r.text = out.intern(base::ellipsize(base::trim(line.shown()), kMaxText));
    bool default_group = false, group_named = true;
    if (pg_id_.match(line.body)) {
      r.pg_id = static_cast<std::int32_t>(pg_id_.number(0));
      r.pg_guid = out.intern(pg_id_[1]);
      r.pg_desc = out.intern(pg_id_[2]);
      r.group_rank = model::GroupRank{static_cast<std::int32_t>(pg_id_.number(3))};
      default_group = pg_id_[2].empty() ? r.pg_id == 0 : pg_id_[2] == "default_pg";
    } else if (pg_.match(line.body)) {
      r.pg_guid = out.intern(pg_[0]);
      r.pg_desc = out.intern(pg_[1]);
      r.group_rank = model::GroupRank{static_cast<std::int32_t>(pg_.number(2))};
      default_group = pg_[1].empty() ? pg_[0] == "0" : pg_[1] == "default_pg";
    } else if (rank_.match(line.body)) {
      r.group_rank = model::GroupRank{static_cast<std::int32_t>(rank_.number(0))};
      group_named = false;
    }
    if (value(r.rank) < 0 && (default_group || !group_named)) r.rank = model::GlobalRank{value(r.group_rank)};
    return r;
  }

  bool timeout(const Line& line, FileContext context, model::Evidence& out) {
    if (!timeout_.match(line.body)) return false;
    auto r = record(line, context, out);
    if (work_.match(line.body)) {
      r.seq = sane(work_.number(0));
      r.op = out.intern(work_[1]);
      r.numel_in = work_.number(2);
      r.numel_out = work_.number(3);
      r.timeout_ms = work_.number(4);
    } else if (old_work_.match(line.body)) {
      r.seq = sane(old_work_.number(0));
      r.op = out.intern(old_work_[1]);
      r.shape = out.intern(old_work_[2]);
      r.timeout_ms = old_work_.number(3);
    }
    r.ran_ms = timeout_.number(0);
    out.watchdog.push_back(r);
    return true;
  }

  bool status(const Line& line, FileContext context, model::Evidence& out) {
    if (!status_.match(line.body) && !old_status_.match(line.body)) return false;
    const auto& m = status_.match(line.body) ? status_ : old_status_;
    auto r = record(line, context, out);
    r.seq = sane(m.number(0));
    r.last_enqueued = sane(m.number(1));
    r.last_completed = sane(m.number(2));
    out.watchdog.push_back(r);
    return true;
  }

  bool desync(const Line& line, FileContext context, model::Evidence& out) {
    if (snapshot_.match(line.body)) {
      auto e = start("watchdog.snapshot", line, context, out);
      add_field(e, out, "seq", snapshot_[0]);
      add_field(e, out, "state", snapshot_[1]);
      add_field(e, out, "ranks", snapshot_[2]);
      add_field(e, out, "op", snapshot_[3]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (collective_.match(line.body)) {
      auto e = start("watchdog.desync", line, context, out);
      add_field(e, out, "relation", "timed_out");
      add_field(e, out, "ranks", collective_[0]);
      add_field(e, out, "op", collective_[1]);
      add_field(e, out, "seq", collective_[2]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (!knowledge_.match(line.body)) return false;
    auto e = start("watchdog.desync", line, context, out);
    const auto rest = knowledge_[1];
    add_field(e, out, "ranks", knowledge_[0]);
    const bool never = rest.find("never joined any") != std::string_view::npos;
    const bool finished = rest.find("didn't join") != std::string_view::npos;
    add_field(e, out, "relation", never ? "never_joined" : finished ? "not_joined" : "not_finished");
    // "finished collective #41, but didn't join collective #42": the last number is the one they miss.
    auto tail = rest;
    std::string_view seq;
    for (auto at = tail.find('#'); at != std::string_view::npos; at = tail.find('#')) {
      tail.remove_prefix(at + 1);
      seq = tail.substr(0, tail.find_first_not_of("0123456789"));
    }
    add_field(e, out, "seq", seq);
    out.events.push_back(std::move(e));
    return true;
  }

  bool event_line(const Line& line, FileContext context, model::Evidence& out) {
    const auto has = [&](std::string_view part) { return line.body.find(part) != std::string_view::npos; };
    std::string_view kind, key, text;
    if (stuck_.match(line.body)) {
      kind = "watchdog.stuck", key = "seconds", text = stuck_[0];
    } else if (has("acquire GIL")) {
      kind = "watchdog.gil";
    } else if (remote_.match(line.body)) {
      kind = "watchdog.remote_error", key = "remote_rank", text = remote_[0];
    } else if (has("following async exception")) {
      kind = "watchdog.exception";
      if (work_.match(line.body)) key = "op", text = work_[1];
    } else if (has("entire process down") || has("after attempting to dump")) {
      kind = "watchdog.abort";
    } else if (has("signal dumping") || has("dump signal") || has("preparing to dump")) {
      kind = "watchdog.dump";
      if (dump_from_.match(line.body)) key = "from_rank", text = dump_from_[0];
    } else if (barrier_.match(line.body)) {
      kind = "watchdog.desync", key = "ranks", text = barrier_[0];
    } else {
      return false;
    }
    auto e = start(kind, line, context, out);
    add_field(e, out, key, text);
    if (kind == "watchdog.desync") add_field(e, out, "relation", "not_joined");
    out.events.push_back(std::move(e));
    return true;
  }

  model::Event start(std::string_view kind, const Line& line, FileContext context, model::Evidence& out) {
    const auto r = record(line, context, out);
    auto e = text::event(kind, line, context, out);
    e.rank = r.rank;
    if (r.pg_id >= 0) add_field(e, out, "pg_id", std::to_string(r.pg_id));
    add_field(e, out, "pg_desc", out.text(r.pg_desc));
    return e;
  }

  Pattern pg_id_{R"(\[PG ID (\d{1,9}) PG GUID ([^\s(\]]+)(?:\(([^)]*)\))? Rank (\d{1,9})\])"};
  Pattern pg_{R"(\[PG (\S{1,64})(?: \(([^)]*)\))? Rank (\d{1,9})\])"};
  Pattern rank_{R"(\[Rank (\d{1,9})\])"};
  Pattern timeout_{R"(Watchdog caught collective operation timeout: .*? ran for (\d+) milliseconds)"};
  Pattern work_{R"(WorkNCCL\(SeqNum=(\d+), OpType=(\w+), NumelIn=(\d+), NumelOut=(\d+), Timeout\(ms\)=(\d+)\))"};
  // 1.x: TensorShape, with or without SeqNum; other backends name another Work type.
  Pattern old_work_{
      R"(Work\w+\((?:SeqNum=(\d+), )?OpType=(\w+), (?:TensorShape=(\[[^\]]*\]), )?.*?Timeout\(ms\)=(\d+)\))"};
  Pattern status_{R"(work sequence id: (\d+) PG status: last enqueued work: (-?\d+), last completed work: (-?\d+))"};
  Pattern old_status_{
      R"((?:at NCCL work|by watchdog at work|at work): (\d+), last enqueued NCCL work: (-?\d+), last completed NCCL work: (-?\d+))"};
  Pattern stuck_{R"(watchdog got stuck for (\d+) ?seconds)"};
  Pattern remote_{R"(remote error detected from rank:? (\d+))"};
  Pattern dump_from_{R"(collective timeout from rank (\d+))"};
  Pattern collective_{R"(\[([\d, ]+)\] Timeout at collective: (\w+), #(\d+))"};
  Pattern knowledge_{R"(To our best knowledge, (?:the )?(?:lagging/dead/mismatched )?ranks \[([\d, ]*)\](.*))"};
  Pattern snapshot_{R"(#(\d+) (started|finished) ranks:\s*\[([\d, ]*)\](?: (?:started|finished) (\w+))?)"};
  Pattern barrier_{R"([Mm]onitored_?[Bb]arrier.*?[Rr]anks? ([\d, ]+) failed to pass)"};
};

}  // namespace

std::unique_ptr<text::LineParser> make_watchdog_parser() { return std::make_unique<WatchdogParser>(); }

}  // namespace holter::formats::logs
