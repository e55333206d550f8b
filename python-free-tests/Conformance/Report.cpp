// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tables, closing line and JSON of a run.
#include "Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

using llvm::StringRef;

namespace conformance {

namespace {
struct Counts {
  size_t numbers[3] = {};
  size_t &operator[](Status status) {
    return numbers[static_cast<int>(status)];
  }
};
} // namespace

static const char *statusName(Status status) {
  static const char *const names[] = {"passed", "failed", "skipped"};
  return names[static_cast<int>(status)];
}

size_t Results::count(Status status) const {
  return static_cast<size_t>(llvm::count_if(
      outcomes, [&](const Outcome &o) { return o.status == status; }));
}

static void printTable(const char *title, std::map<std::string, Counts> &rows,
                       llvm::raw_ostream &os) {
  os << llvm::format("\n%-34s %7s %7s %7s\n", title, "passed", "failed",
                     "skipped");
  for (auto &[name, counts] : rows)
    os << llvm::format("%-34s %7zu %7zu %7zu\n", name.c_str(),
                       counts[Status::Passed], counts[Status::Failed],
                       counts[Status::Skipped]);
}

/// Returns the first line without file and node names, which differ between
/// cases.
static std::string getReason(StringRef message) {
  StringRef line = message.split('\n').first;
  line.consume_front("error: ");
  if (auto [path, rest] = line.split("model.onnx: "); !rest.empty())
    line = rest;
  if (line.starts_with("node '") && line.contains(" ("))
    line = line.substr(line.find(" (") + 1);
  return line.take_front(160).str();
}

static void printReasons(const Results &results, llvm::raw_ostream &os) {
  std::map<std::string, size_t> reasons;
  for (const Outcome &outcome : results.outcomes)
    if (outcome.status == Status::Skipped)
      ++reasons[getReason(outcome.message)];
  std::vector<std::pair<std::string, size_t>> sorted(reasons.begin(),
                                                     reasons.end());
  llvm::sort(sorted, [](auto &a, auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  if (!sorted.empty())
    os << "\nreasons of what was skipped\n";
  for (auto &[reason, count] : sorted)
    os << llvm::format("%6zu  ", count) << reason << "\n";
}

static void printCases(const Results &results, Status status, size_t maxLength,
                       llvm::raw_ostream &os) {
  for (auto [test, outcome] : llvm::zip(results.cases, results.outcomes))
    if (outcome.status == status) {
      std::string message = outcome.message;
      std::replace(message.begin(), message.end(), '\n', ' ');
      os << StringRef(statusName(status)).upper() << " " << test.fullName()
         << " " << results.column.name << ": "
         << StringRef(message).take_front(maxLength).rtrim() << "\n";
    }
}

void printReport(const Results &results, bool quiet, llvm::raw_ostream &os) {
  if (!quiet)
    printCases(results, Status::Skipped, 300, os);
  printCases(results, Status::Failed, 600, os);
  if (!quiet) {
    std::map<std::string, Counts> rows, sets;
    for (auto [test, outcome] : llvm::zip(results.cases, results.outcomes)) {
      ++rows[test.row][outcome.status];
      ++sets[test.set][outcome.status];
    }
    printReasons(results, os);
    printTable("operator", rows, os);
    printTable("set", sets, os);
    os << "\n";
  }
  double compile = 0, run = 0;
  for (const Outcome &outcome : results.outcomes) {
    compile += outcome.compileMs;
    run += outcome.runMs;
  }
  os << llvm::format("column %s: %.1f s (compiling %.1f s, running %.1f s)\n",
                     results.column.name.c_str(), results.wallMs / 1000,
                     compile / 1000, run / 1000)
     << results.count(Status::Passed) << " passed, "
     << results.count(Status::Failed) << " failed, "
     << results.count(Status::Skipped) << " skipped\n";
}

Error writeJson(const Results &results, const std::string &path) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return path + ": " + code.message();
  llvm::json::OStream json(os, 1);
  json.object([&] {
    json.attribute("column", results.column.name);
    for (Status status : {Status::Passed, Status::Failed, Status::Skipped})
      json.attribute(statusName(status),
                     static_cast<int64_t>(results.count(status)));
    json.attribute("wall_ms", results.wallMs);
    json.attributeArray("cases", [&] {
      for (size_t i = 0; i < results.cases.size(); ++i)
        json.object([&] {
          const Outcome &outcome = results.outcomes[i];
          json.attribute("name", results.cases[i].fullName());
          json.attribute("operator", results.cases[i].row);
          json.attribute("status", statusName(outcome.status));
          if (!outcome.message.empty())
            json.attribute("message", llvm::json::fixUTF8(outcome.message));
          json.attribute("compile_ms", outcome.compileMs);
          json.attribute("run_ms", outcome.runMs);
        });
    });
  });
  os << "\n";
  return {};
}

//===----------------------------------------------------------------------===//
// Coverage
//===----------------------------------------------------------------------===//

namespace {
/// An operator with cases of scalars, dims of 0 and many dims.
struct ShapesOf {
  std::string domain, name;

  bool operator<(const ShapesOf &other) const {
    return std::tie(domain, name) < std::tie(other.domain, other.name);
  }
};

/// The contents of docs/OpSupport.md, or the executed versions and types.
struct Claims {
  std::set<OperatorVersion> versions;
  std::set<OperatorType> types;
  std::set<ShapesOf> shapes;
};
} // namespace

/// Calls `visit` for each trimmed part that is not empty.
static void forEachPart(StringRef text, char separator,
                        llvm::function_ref<void(StringRef)> visit) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, separator, -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    if (!part.trim().empty())
      visit(part.trim());
}

/// One row: | operator | imported | expanded | missing | note | types |.
static void addClaims(StringRef line, const std::string &domain,
                      Claims &claims) {
  llvm::SmallVector<StringRef> cells;
  line.split(cells, '|');
  if (cells.size() < 7)
    return;
  std::string name = cells[1].trim().str();
  for (StringRef list : {cells[2], cells[3]})
    forEachPart(list, ',', [&](StringRef version) {
      int number;
      if (version.getAsInteger(10, number))
        return;
      claims.versions.insert({domain, name, number});
      // ONNX defines the other domains.
      if (domain != "com.microsoft")
        claims.shapes.insert({domain, name});
    });
  // "T: double float; T1: int64".
  forEachPart(cells[6], ';', [&](StringRef variable) {
    auto [of, list] = variable.split(':');
    forEachPart(list, ' ', [&, of = of](StringRef type) {
      claims.types.insert({domain, name, of.str(), type.str()});
    });
  });
}

static Claims readClaims(StringRef page) {
  Claims claims;
  std::string domain;
  llvm::SmallVector<StringRef> lines;
  page.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.consume_front("## "))
      domain = line.trim() == "ai.onnx" ? "" : line.trim().str();
    else if (line.starts_with("|"))
      addClaims(line, domain, claims);
  }
  return claims;
}

static std::string getPart(const OperatorVersion &claim) {
  return std::to_string(claim.sinceVersion);
}
static std::string getPart(const OperatorType &claim) {
  return claim.variable + ": " + claim.type;
}
static std::string getPart(const ShapesOf &) { return "shapes"; }

/// Prints claimed entries that were not executed; returns their number.
template <typename Claim>
static size_t printGaps(StringRef what, const std::set<Claim> &claims,
                        const std::set<Claim> &executed,
                        llvm::raw_ostream &os) {
  std::map<std::string, std::string> gaps;
  size_t count = 0;
  for (const Claim &claim : claims)
    if (!executed.count(claim)) {
      ++count;
      std::string &list =
          gaps[(claim.domain.empty() ? "" : claim.domain + ".") + claim.name];
      list += (list.empty() ? "" : ", ") + getPart(claim);
    }
  os << "claimed in OpSupport.md: " << claims.size() << " " << what
     << "; without an executed case: " << count << "\n";
  for (auto &[name, list] : gaps)
    os << "  " << name << ": " << list << "\n";
  return count;
}

size_t printGaps(const Results &results, const std::string &opSupport,
                 llvm::raw_ostream &os, Error &error) {
  auto buffer = llvm::MemoryBuffer::getFile(opSupport);
  if (!buffer) {
    error = opSupport + ": " + buffer.getError().message();
    return 0;
  }
  Claims claims = readClaims((*buffer)->getBuffer()), executed;
  for (auto [test, outcome] : llvm::zip(results.cases, results.outcomes))
    if (outcome.status == Status::Passed) {
      const ModelSummary &model = test.model;
      executed.versions.insert(model.operators.begin(), model.operators.end());
      executed.types.insert(model.types.begin(), model.types.end());
      if (test.set == "shapes")
        for (const OperatorVersion &version : model.operators)
          executed.shapes.insert({version.domain, version.name});
    }
  return printGaps("operator versions", claims.versions, executed.versions,
                   os) +
         printGaps("types of operators", claims.types, executed.types, os) +
         printGaps("operators with cases of shapes", claims.shapes,
                   executed.shapes, os);
}

} // namespace conformance
