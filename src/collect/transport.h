// SPDX-License-Identifier: Apache-2.0
// How a host is reached: as a command that runs a shell there, takes our program on its standard input and gives the
// archive on its standard output. Nothing is installed; what is written there is removed again, also after a signal.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace holter::collect {

struct Target {
  std::string host;                  // its name in the report
  std::vector<std::string> command;  // up to the shell, without the script
  bool quote_script = false;         // the script passes another shell on the way (ssh)
};

// `ssh` is the command with its options, "ssh -F my.conf"; `connect_s` its time-out for a dead host.
Target over_ssh(const std::string& host, const std::string& ssh, int connect_s);
// A step of the running job on that node.
Target over_srun(const std::string& job, const std::string& host);
// `container` empty: the default one of the pod.
Target over_kubectl(const std::string& ns, const std::string& pod, const std::string& container);

// What the shell there runs: puts the program (gzip on standard input) into a private folder of a file system that has
// room and may execute, runs it with `arguments`, and removes the folder.
std::string remote_script(const std::vector<std::string>& arguments);
// The whole command line for a target.
std::vector<std::string> remote_command(const Target& target, const std::string& script);

// One host a line; blank lines and # comments are passed over, "host slots=8" and "host:8" lose the rest. Names with
// other characters than those of host names, or that begin with '-', are errors: they would be options of ssh.
base::Result<std::vector<std::string>> parse_hosts(std::string_view text);

}  // namespace holter::collect
