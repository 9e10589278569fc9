// SPDX-License-Identifier: Apache-2.0
#include "diagnose/clocks.h"
#include "diagnose/collected.h"
#include "diagnose/diagnoser.h"
#include "diagnose/first_failure.h"
#include "diagnose/hardware.h"
#include "diagnose/init.h"
#include "diagnose/link.h"
#include "diagnose/nccl_transport.h"
#include "diagnose/signatures.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

const std::vector<Diagnoser>& registry() {
  static const std::vector<Diagnoser> all{
      {"app-xid", diagnose_app_xid},
      {"bus", diagnose_bus},
      {"clocks", diagnose_clocks},
      {"collected", diagnose_collected},
      {"dcgm-health", diagnose_dcgm_health},
      {"driver", diagnose_driver},
      {"ecc", diagnose_ecc},
      {"facts", diagnose_facts},
      {"first_failure", diagnose_first_failure},
      {"gsp", diagnose_gsp},
      {"init", diagnose_init},
      {"link", diagnose_link},
      {"lost-peer", diagnose_lost_peer},
      {"nccl-hosts", diagnose_nccl_hosts},
      {"nccl-warnings", diagnose_nccl_warnings},
      {"nvlink", diagnose_nvlink},
      {"other-xid", diagnose_other_xid},
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
