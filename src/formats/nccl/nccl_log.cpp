// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl/nccl_log.h"

#include "formats/nccl/comm_lines.h"
#include "formats/nccl/error_lines.h"
#include "formats/nccl/fact_lines.h"
#include "formats/nccl/topology_lines.h"

namespace holter::formats::nccl {

namespace {

// Error codes go up the call chain once a retry; a few say where it started.
constexpr int kMaxPropagations = 64;

class Parser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override { return {"NCCL "}; }

  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override {
    const auto head = parse_head(line.body);
    if (!head) return;
    const Input in{*head, line, context, out};
    if (context.file) context.file->counts["nccl lines"]++;
    if (head->level == Level::kWarn) return read_warning(in);
    if (head->level == Level::kTrace || head->level == Level::kCall) return;
    if (read_comm_line(in, state_) || read_topology_line(in, state_) || read_fact_line(in, state_)) return;
    if (parse_propagation(head->message) && ++propagations_ > kMaxPropagations) return;
    read_info_error(in);
  }

 private:
  State state_;
  int propagations_ = 0;
};

}  // namespace

std::unique_ptr<text::LineParser> make_parser() { return std::make_unique<Parser>(); }

}  // namespace holter::formats::nccl
