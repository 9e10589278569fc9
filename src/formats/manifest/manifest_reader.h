// SPDX-License-Identifier: Apache-2.0
// Manifests of `holter collect`: holter.collect/1 of a job and holter.collect.host/1 of a host
// (src/collect/manifest.h).
//
// Facts: "collect.process" for every process of the job (rank, node, number: Unix seconds of its start); and, only for
// what was not had, "collect.host" (subject the host) and "collect.item" (subject the item, node the
// host), value the status, text the reason.
#pragma once

#include "formats/reader.h"

namespace holter::formats::manifest {

class ManifestReader final : public Reader {
 public:
  std::string_view name() const override { return "holter-manifest"; }
  int probe(const model::SourceFile& file, std::string_view head) const override;
  void read(ByteSource& source, FileContext context, model::Evidence& out) const override;
};

}  // namespace holter::formats::manifest
