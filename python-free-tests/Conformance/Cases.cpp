// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the cases and their groups in the table.
#include "Cases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <map>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace conformance {

/// The names in a folder, sorted.
static std::vector<std::string> list(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    names.push_back(path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

static bool isSelected(const std::string &name, const Selection &selection,
                       const std::optional<llvm::GlobPattern> &glob) {
  if (glob && !glob->match(name))
    return false;
  return selection.parts <= 1 ||
         llvm::xxh3_64bits(name) % selection.parts == selection.part;
}

static bool isNodeSet(llvm::StringRef set) {
  return set == "node" || set == "opset28";
}

/// "test_celu_expanded_ver12" is test_celu with Celu expanded to other
/// operators.
static llvm::StringRef baseName(llvm::StringRef name) {
  return name.take_front(name.find("_expanded"));
}

static void setRows(std::vector<Case> &cases) {
  std::map<std::string, std::string> operators;
  for (const Case &test : cases)
    if (isNodeSet(test.set) && baseName(test.name) == test.name)
      operators[test.name] = test.model.firstOperator;
  for (Case &test : cases) {
    test.row = test.model.firstOperator;
    if (!isNodeSet(test.set))
      test.row = "(" + test.set + ")";
    else if (auto it = operators.find(baseName(test.name).str());
             it != operators.end())
      test.row = it->second;
  }
}

Error findCases(const std::string &root, const Selection &selection,
                std::vector<Case> &cases) {
  std::optional<llvm::GlobPattern> glob;
  if (!selection.filter.empty()) {
    auto parsed = llvm::GlobPattern::create("*" + selection.filter + "*");
    if (!parsed)
      return "--filter: " + llvm::toString(parsed.takeError());
    glob = std::move(*parsed);
  }
  std::vector<Case> all;
  for (const std::string &set : list(root))
    for (const std::string &name : list(root + "/" + set)) {
      Case test;
      test.set = set;
      test.name = name;
      test.folder = root + "/" + set + "/" + name;
      std::string model = test.folder + "/model.onnx";
      if (!fs::exists(model))
        continue;
      if (Error error = readSummary(model, test.model); !error.empty())
        return error;
      for (const std::string &entry : list(test.folder))
        if (llvm::StringRef(entry).starts_with("test_data_set_"))
          test.dataSets.push_back(test.folder + "/" + entry);
      all.push_back(std::move(test));
    }
  setRows(
      all); // over all cases, so that a row does not depend on the selection
  for (Case &test : all)
    if (isSelected(test.fullName(), selection, glob))
      cases.push_back(std::move(test));
  return cases.empty() ? "no cases in " + root : "";
}

} // namespace conformance
