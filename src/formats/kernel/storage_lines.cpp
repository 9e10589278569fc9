// SPDX-License-Identifier: Apache-2.0
// Forms:
//   nfs: server nas1 not responding, still trying      nfs: server nas1 OK      nfs: server x not responding, timed out
//   LustreError: ... / Lustre: fs-OST0001-osc: Connection to fs-OST0001 (at 10.0.0.1@o2ib) was lost; in progress ...
//   blk_update_request: I/O error, dev nvme0n1, sector 12      nvme nvme0: I/O 12 QID 3 timeout, aborting
//   EXT4-fs error (device sda1): ...      EXT4-fs (sda1): Remounting filesystem read-only      XFS (dm-0): Corruption
//   ...
#include "base/cursor.h"
#include "formats/kernel/families.h"

namespace holter::formats::kernel {

namespace {

bool read_server(const Input& in) {
  struct Form {
    std::string_view head, kind;
  };
  static constexpr Form kForms[] = {{"nfs: server ", "nfs"},      {"nfs4: server ", "nfs"}, {"NFS: server ", "nfs"},
                                    {"Connection to ", "lustre"}, {"ceph: ", "ceph"},       {"CIFS: VFS: ", "cifs"}};
  for (const auto& f : kForms) {
    base::Cursor c(in.text);
    if (!c.skip_past(f.head)) continue;
    if (f.kind == "lustre" && !in.has("Lustre")) continue;
    const auto server = c.until(" ");
    const bool lost = in.has("not responding") || in.has("was lost") || in.has("timed out") || in.has("hung");
    const bool back = in.has(" OK") || in.has("was restored") || in.has("reconnect success");
    if (!lost && !back) return false;
    auto e = in.event("kernel.storage");
    in.add(e, "kind", f.kind);
    in.add(e, "server", server);
    in.add(e, "state", lost ? "not responding" : "ok");
    in.emit(std::move(e));
    return true;
  }
  return false;
}

bool read_fs_error(const Input& in) {
  const bool io = in.has("I/O error, dev ") || (in.has("nvme") && in.has("timeout,"));
  const bool fs = in.has("EXT4-fs error") || in.has("emounting filesystem read-only") || in.has("BTRFS error") ||
                  (in.has("XFS (") && (in.has("orruption") || in.has("Shutting down") || in.has("shut down")));
  if (!io && !fs) return false;
  auto e = in.event("kernel.fs_error");
  in.add(e, "device", base::between(in.text, io ? "dev " : "(", ",) "));
  in.add(e, "text", in.text);
  in.emit(std::move(e));
  return true;
}

}  // namespace

bool read_storage_line(const Input& in) { return read_server(in) || read_fs_error(in); }

}  // namespace holter::formats::kernel
