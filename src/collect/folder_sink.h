// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collect/sink.h"

namespace holter::collect {

// Writes below `folder`, which is made when it is not there. File times are set.
class FolderSink final : public Sink {
 public:
  explicit FolderSink(std::string folder) : folder_(std::move(folder)) {}
  base::Result<bool> add(const std::string& name, std::string_view data, base::UnixNs modified) override;
  base::Result<bool> finish() override { return true; }

 private:
  std::string folder_;
};

// Makes the folder and those above it, for the user alone (mode 0700). An existing one is fine.
base::Result<bool> make_folder(const std::string& path);

}  // namespace holter::collect
