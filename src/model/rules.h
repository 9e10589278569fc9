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
  std::string id;                   // "torch.store.recv_failed"
  std::vector<std::string> patterns;  // RE2; named groups become event fields
  std::vector<std::string> examples;  // lines that match, written for the test
  std::string meaning;              // one sentence for people
  std::map<std::string, double> causes;  // votes: cause id -> 0..1
  bool secondary = false;           // says peer, remote, connection, timeout: never a first cause
  std::string severity;             // of model::Severity; "" = application
  std::string owner;                // of model::Owner
  std::vector<std::string> actions; // what to do, most useful first
  std::vector<std::string> needs;   // what would confirm it
  std::string source_url_or_note;   // where the text is known from
};

// A table as read from CSV: rules/xid/*.csv and others.
struct RuleTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Rules {
  std::vector<CauseInfo> causes;
  std::vector<Signature> signatures;
  std::map<std::string, RuleTable, std::less<>> tables;  // by path below rules/: "xid/xid.csv"
  std::map<std::string, std::string, std::less<>> texts;  // every other file, verbatim

  const CauseInfo* cause(std::string_view id) const {
    for (const auto& c : causes) {
      if (c.id == id) return &c;
    }
    return nullptr;
  }
};

}  // namespace holter::model
