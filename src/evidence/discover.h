// SPDX-License-Identifier: Apache-2.0
// Which files the given paths stand for, and how to open them safely.
//
// A path given by the user may be a symbolic link; inside a folder links are never followed: what
// they lead to inside the folder is read under its own name, and what lies outside was not given.
// Only regular files are opened, without blocking and without side effects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "evidence/read.h"

namespace holter::evidence {

struct Input {
  std::size_t root = 0;  // index of Discovery::roots
  std::string relative;  // below a folder given; empty: the path given itself
  std::string shown;     // printable, as in SourceFile::path
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::string unread;  // why it is not read; empty: it is
  bool pipe = false;   // a pipe or standard input given by the user
};

struct Root {
  std::string path;
  base::Fd folder;   // open when the path is a folder
  std::string name;  // printable name of the folder itself, for hints; empty for files
};

struct Discovery {
  std::vector<Root> roots;
  std::vector<Input> inputs;  // natural order of `shown`: rank2 before rank10
  // What could not be looked at: a folder without permission, a limit.
  struct Trouble {
    std::string shown;
    std::string what;
  };
  std::vector<Trouble> troubles;
};

Discovery discover(const std::vector<std::string>& paths, const Limits& limits);

// Opens an input for reading; on failure `why` says why. Keeps the last folder open between calls, so
// one Opener serves one thread.
class Opener {
 public:
  explicit Opener(const Discovery& found) : found_(found) {}
  base::Fd open(const Input& input, std::uint64_t& bytes, std::string& why);

 private:
  int folder_of(const Input& input, std::string& name);

  const Discovery& found_;
  std::size_t root_ = static_cast<std::size_t>(-1);
  std::string folder_;
  base::Fd fd_;
};

// Natural order: runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace holter::evidence
