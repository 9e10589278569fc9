// SPDX-License-Identifier: Apache-2.0
#include "diagnose/diagnoser.h"
#include "diagnose/first_failure.h"
#include "diagnose/signatures.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

const std::vector<Diagnoser>& registry() {
  static const std::vector<Diagnoser> all{
      {"facts", diagnose_facts},
      {"first_failure", diagnose_first_failure},
      {"signatures", diagnose_signatures},
  };
  return all;
}

model::Citation cite(const Context& context, model::SourceRef at, std::string_view text, std::string_view why) {
  model::Citation c;
  c.at = at;
  c.text = text;
  c.why = why;
  if (at.file != model::FileId::kNone) c.source = context.evidence.files[value(at.file)].path;
  return c;
}

model::Citation cite(const Context& context, const model::Event& event, std::string_view why) {
  return cite(context, event.at, context.text(event.text), why);
}

}  // namespace holter::diagnose
