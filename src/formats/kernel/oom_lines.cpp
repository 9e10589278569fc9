// SPDX-License-Identifier: Apache-2.0
// Forms (mm/oom_kill.c, kernels 3.10 to 6.x):
//   python invoked oom-killer: gfp_mask=0x.., order=0
//   oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0-1,oom_memcg=/a,task_memcg=/b,
//            task=python,pid=4519,uid=1000
//   Memory cgroup out of memory: Killed process 4519 (python) total-vm:1kB, anon-rss:2kB, file-rss:0kB ...
//   Out of memory: Kill process 456 (python) score 50 or sacrifice child
//   Killed process 123, UID 48, (httpd) total-vm:1kB, anon-rss:2kB, file-rss:0kB
#include "base/cursor.h"
#include "formats/kernel/families.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

struct Kill {
  std::string_view pid, task, constraint, cgroup, uid, anon_rss;
};

bool parse_summary(std::string_view text, Kill& kill) {
  Cursor c(text);
  if (!c.skip_past("oom-kill:")) return false;
  kill.constraint = base::between(c.rest(), "constraint=", ", ");
  kill.cgroup = base::between(c.rest(), "task_memcg=", ", ");
  if (kill.cgroup.empty()) kill.cgroup = base::between(c.rest(), "oom_memcg=", ", ");
  kill.task = base::between(c.rest(), ",task=", ",");
  kill.pid = base::between(c.rest(), ",pid=", ", ");
  kill.uid = base::between(c.rest(), ",uid=", ", ");
  return true;
}

bool parse_killed(std::string_view text, Kill& kill) {
  Cursor c(text);
  if (!c.skip_past("Killed process ") && !c.skip_past("Kill process ")) return false;
  kill.pid = c.until(" ,");
  if (kill.pid.find_first_not_of("0123456789") != std::string_view::npos) return false;
  kill.task = base::between(c.rest(), "(", ")");
  kill.uid = base::between(c.rest(), "UID:", " ");
  kill.anon_rss = base::between(c.rest(), "anon-rss:", "k ,");
  if (text.find("emory cgroup") != std::string_view::npos) kill.constraint = "CONSTRAINT_MEMCG";
  return true;
}

}  // namespace

bool OomLines::read(const Input& in) {
  Kill kill;
  if (in.has("invoked oom-killer")) {
    auto e = in.event("kernel.oom_invoked");
    in.add(e, "task", in.text.substr(0, in.text.find(" invoked")));
    in.emit(std::move(e));
    return true;
  }
  if (!parse_summary(in.text, kill) && !parse_killed(in.text, kill)) return false;
  std::string key(kill.pid);
  key += '@';
  key += in.out.text(in.node);
  const auto known = kill.pid.empty() ? kills_.end() : kills_.find(key);
  const bool is_new = known == kills_.end();
  if (is_new) {
    auto e = in.event("kernel.oom_kill");
    e.pid = base::to_int<std::int32_t>(kill.pid).value_or(-1);
    in.add(e, "task", kill.task);
    in.add(e, "pid", kill.pid);
    if (!kill.pid.empty()) kills_[key] = in.out.events.size();
    in.emit(std::move(e));
  }
  auto& e = in.out.events[is_new ? in.out.events.size() - 1 : known->second];
  const auto add_once = [&](std::string_view field, std::string_view value) {
    const auto id = in.out.intern(field);
    for (const auto& [k, v] : e.fields) {
      if (k == id) return;
    }
    in.add(e, field, value);
  };
  add_once("constraint", kill.constraint);
  add_once("cgroup", kill.cgroup);
  add_once("uid", kill.uid);
  add_once("anon_rss_kb", kill.anon_rss);
  return true;
}

}  // namespace holter::formats::kernel
