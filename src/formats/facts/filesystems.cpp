// SPDX-License-Identifier: Apache-2.0
// df (with -h, -i, -T), mount, /proc/mounts. Facts disk.size_bytes, disk.used_bytes, disk.avail_bytes,
// disk.use_pct, disk.inode_use_pct with the mount point as subject; mount.type and mount.source.
#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

using Fields = std::vector<std::string_view>;

bool is_percent(std::string_view field) {
  return field.size() >= 2 && field.back() == '%' && base::to_int<int>(field.substr(0, field.size() - 1));
}

class Filesystems final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto fields = base::split_blanks(line);
    return header(fields) || df_row(fields, facts) || mount_line(line, facts) || proc_mounts(fields, facts);
  }

 private:
  bool header(const Fields& f) {
    if (f.size() < 5 || f[0] != "Filesystem") return false;
    inodes_ = false;
    unit_ = 1024;
    for (const auto field : f) {
      if (field == "Inodes" || field == "IUsed") inodes_ = true;
      if (field == "Size") unit_ = 1;  // suffixed
      if (field.ends_with("-blocks")) unit_ = bytes(field.substr(0, field.size() - 7)).value_or(1024);
    }
    return true;
  }

  // "shm  tmpfs?  64M  60M  4.0M  94% /dev/shm"
  bool df_row(const Fields& f, FactWriter& facts) const {
    std::size_t pct = 0;
    for (std::size_t i = 4; i < f.size(); ++i) {
      if (is_percent(f[i]) || f[i] == "-") pct = i;
    }
    if (pct == 0 || pct + 1 >= f.size() || !f[pct + 1].starts_with('/')) return false;
    const auto size = bytes(f[pct - 3], unit_), used = bytes(f[pct - 2], unit_), avail = bytes(f[pct - 1], unit_);
    if (!size || !used || !avail) return false;
    const auto mount = f[pct + 1];
    if (inodes_) {
      if (is_percent(f[pct])) facts.add("disk.inode_use_pct", f[pct], mount);
      return true;
    }
    facts.add("disk.size_bytes", *size, f[pct - 3], mount);
    facts.add("disk.used_bytes", *used, f[pct - 2], mount);
    facts.add("disk.avail_bytes", *avail, f[pct - 1], mount);
    if (is_percent(f[pct])) facts.add("disk.use_pct", f[pct], mount);
    return true;
  }

  // "fs1:/export on /mnt/fs1 type nfs4 (rw)"
  static bool mount_line(std::string_view line, FactWriter& facts) {
    const auto on = line.find(" on /");
    if (on == std::string_view::npos) return false;
    const auto type = line.find(" type ", on);
    if (type == std::string_view::npos) return false;
    const auto mount = line.substr(on + 4, type - on - 4);
    auto rest = base::trim(line.substr(type + 6));
    const auto fs = rest.substr(0, rest.find_first_of(" ("));
    facts.add("mount.type", fs, mount);
    facts.add("mount.source", base::trim(line.substr(0, on)), mount);
    if (const auto options = rest.find('('); options != std::string_view::npos) {
      rest.remove_prefix(options + 1);
      facts.add("mount.options", rest.substr(0, rest.find(')')), mount);
    }
    return true;
  }

  // "/dev/nvme1n1 /scratch xfs rw,relatime 0 0"
  static bool proc_mounts(const Fields& f, FactWriter& facts) {
    if (f.size() != 6 || !f[1].starts_with('/') || f[4].size() != 1 || f[5].size() != 1) return false;
    if (!f[3].starts_with("rw") && !f[3].starts_with("ro")) return false;
    facts.add("mount.type", f[2], f[1]);
    facts.add("mount.source", f[0], f[1]);
    facts.add("mount.options", f[3], f[1]);
    return true;
  }

  bool inodes_ = false;
  double unit_ = 1024;
};

}  // namespace

std::unique_ptr<Recogniser> make_filesystems() { return std::make_unique<Filesystems>(); }

}  // namespace holter::formats::facts
