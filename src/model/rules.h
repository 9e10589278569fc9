// SPDX-License-Identifier: Apache-2.0
// Knowledge as data: the tables of rules/, parsed by formats/rules. Immutable after loading.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holter::model {

// A row of rules/causes.csv: the vocabulary of reports.
struct CauseInfo {
  std::string id;
  std::string group;
  std::string title;
  std::string typical_first_symptom;
};

// A known error text: rules/signatures/*.toml.
struct Signature {
  std::string id;                        // "torch.store.recv_failed"
  std::vector<std::string> patterns;     // RE2; named groups become event fields
  std::vector<std::string> examples;     // lines that match, written for the test
  std::string meaning;                   // one sentence for people
  std::map<std::string, double> causes;  // votes: cause id -> 0..1
  bool secondary = false;                // says peer, remote, connection, timeout: never a first cause
  bool state = false;                    // how things are, no event: no cause unless something else is wrong
  std::string severity;                  // of model::Severity; "" = application
  std::string owner;                     // of model::Owner
  std::vector<std::string> actions;      // what to do, most useful first
  std::vector<std::string> needs;        // what would confirm it
  std::string source_url_or_note;        // where the text is known from
};

// What a frame of a stack means: rules/stacks.toml. The first entry of the file that matches wins.
struct StackRule {
  enum class Kind {
    kCollective,  // waits for other ranks: a victim
    kDevice,      // waits for the device: perhaps behind a collective
    kReason,      // host work or a host wait that holds others up
    kPhase,       // where in the program: validation, save, generate
    kLock,        // waits for a lock
    kNeutral,     // runtime machinery that says nothing
  };
  std::string id;
  Kind kind = Kind::kReason;
  std::vector<std::string> patterns;  // RE2 over "function (file)" of one frame
  std::vector<std::string> also;      // RE2; another frame of the stack must match too
  std::string meaning;                // completes "rank 3 ..."
  std::string cause;                  // id of causes.csv; empty for kCollective and others
  double confidence = 0.5;            // of the cause, when others provably wait
  std::string owner;
  std::string phase;         // kPhase
  bool long_work = false;    // legitimate work that only takes long: says "progressing" when it moves
  bool inside_call = false;  // a reason even below the frame of a collective
  std::vector<std::string> actions;
  std::vector<std::string> needs;
};

struct StackRules {
  std::vector<StackRule> entries;
  std::vector<std::string> main_threads, worker_threads, helper_threads;  // RE2 over thread names
  std::vector<std::string> interpreter_frames;  // RE2: machinery of the interpreter, left out of merged stacks
  std::vector<std::string> library_files;       // RE2: Python files that are not the user's
};

// A table as read from CSV: rules/xid/*.csv and others.
struct RuleTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Rules {
  std::vector<CauseInfo> causes;
  std::vector<Signature> signatures;
  StackRules stacks;
  std::map<std::string, RuleTable, std::less<>> tables;   // by path below rules/: "xid/xid.csv"
  std::map<std::string, std::string, std::less<>> texts;  // every other file, verbatim

  const CauseInfo* cause(std::string_view id) const {
    for (const auto& c : causes) {
      if (c.id == id) return &c;
    }
    return nullptr;
  }
};

}  // namespace holter::model
