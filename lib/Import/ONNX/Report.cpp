// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints issues and warnings as a line, a table and JSON.
#include "Importer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace adze;
using namespace adze::importer;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static size_t countNodes(llvm::ArrayRef<Node> nodes) {
  size_t count = nodes.size();
  for (const Node &node : nodes)
    for (const Attribute &attribute : node.attributes)
      for (const auto &graph : attribute.graphs)
        count += countNodes(graph->nodes);
  return count;
}

ImportReport Importer::takeReport() {
  ImportReport report;
  report.issues = std::move(issues);
  report.warnings = std::move(warnings);
  report.numFailed = failedNodes.size();
  if (!model)
    return report;
  report.numNodes = countNodes(model->graph.nodes);
  for (const auto &function : model->functions)
    report.numNodes += countNodes(function.second.nodes);
  return report;
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

llvm::StringRef adze::importer::getExportHint(llvm::StringRef domain,
                                              llvm::StringRef op) {
  if (domain == "com.microsoft" && op == "EPContext")
    return "export the model without parts that an execution provider compiled "
           "(ep.context_enable)";
  struct Hint {
    llvm::StringRef domain, text;
  };
  constexpr Hint hints[] = {
      {"com.microsoft", "export the model without ONNX Runtime's fused "
                        "operators (optimization level ORT_ENABLE_BASIC)"},
      {"com.microsoft.nchwc", "export the model without ONNX Runtime's layouts "
                              "(optimization level ORT_ENABLE_EXTENDED)"},
      {"com.ms.internal.nhwc", "export the model without ONNX Runtime's "
                               "layouts (optimization level "
                               "ORT_ENABLE_EXTENDED)"},
      {"ai.onnx.contrib", "export the model without the pre- and "
                          "postprocessing of onnxruntime-extensions"},
      {"org.pytorch.aten", "export the model with PyTorch's "
                           "operator_export_type=ONNX, or dynamo=True"},
      {"aten", "export the model with PyTorch's operator_export_type=ONNX, or "
               "dynamo=True"},
      {"TRT", "export the model without plugins of TensorRT"},
      {"trt.plugins", "export the model without plugins of TensorRT"},
  };
  for (const Hint &hint : hints)
    if (hint.domain == domain)
      return hint.text;
  return "";
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

void Importer::warn(const llvm::Twine &message, const NodePosition *position) {
  std::string text = message.str();
  if (!told.insert(text).second)
    return;
  ImportIssue &issue =
      warnings.emplace_back(makeIssue(std::move(text), position));
  issue.severity = ImportIssue::Severity::Warning;
}

void Importer::warn(const ModelWarning &warning) {
  std::string prefix;
  if (!warning.node.empty())
    prefix = "node '" + warning.node + "' (" + warning.op + "): ";
  size_t count = warnings.size();
  warn(path + ": " + prefix + warning.text);
  if (warnings.size() == count)
    return;
  ImportIssue &added = warnings.back();
  added.node = warning.node;
  added.op = warning.op;
  added.text = warning.text;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
/// A remedy in messages, and its text in a summary.
struct Remedy {
  llvm::StringRef inMessage, flag, text;
};

/// The issues of one operator, or of the model outside of nodes.
struct Row {
  size_t count = 0;
  bool isMissing = false, isUnsupported = true;
  llvm::SmallVector<llvm::StringRef> remedies; // flags
};
} // namespace

static constexpr Remedy kRemedies[] = {
    {"--kernels", "--kernels FILE.mlir",
     "give operators kernels by --kernels FILE.mlir"},
    {"onnx.version_converter", "onnx.version_converter",
     "bring the model to another opset by onnx.version_converter"},
    {"--shape", "--shape", "give the inputs shapes by --shape NAME=..."},
    {"--dim", "--dim", "fix symbolic dims by --dim NAME=..."},
    {"export the model", "another export",
     "export the model again as the messages say"},
};

static void addTo(std::string &list, llvm::StringRef text) {
  list += (list.empty() ? "" : ", ") + text.str();
}

/// Returns rows by operator, in the order of the first issue. The row of issues
/// outside of nodes has no name and is last.
static llvm::MapVector<llvm::StringRef, Row>
collectRows(const ImportReport &report) {
  llvm::MapVector<llvm::StringRef, Row> rows;
  for (bool ofNodes : {true, false})
    for (const ImportIssue &issue : report.issues) {
      if (issue.op.empty() == ofNodes)
        continue;
      Row &row = rows[issue.failedOp];
      ++row.count;
      row.isMissing |= issue.isMissing;
      row.isUnsupported &= issue.unsupported;
      for (const Remedy &remedy : kRemedies)
        if (llvm::StringRef(issue.message).contains(remedy.inMessage) &&
            !llvm::is_contained(row.remedies, remedy.flag))
          row.remedies.push_back(remedy.flag);
    }
  return rows;
}

static llvm::StringRef describe(const Row &row) {
  return row.isMissing       ? "missing operator"
         : row.isUnsupported ? "unsupported form"
                             : "error";
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string countOf(size_t count, llvm::StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

std::string adze::summarize(const ImportReport &report) {
  size_t count = report.issues.size(),
         numSupported = report.numNodes - report.numFailed;
  bool ofNodes = llvm::none_of(report.issues,
                               [](auto &issue) { return issue.op.empty(); });
  std::string text = ofNodes ? countOf(count, "node") + " cannot be imported"
                             : countOf(count, "error") +
                                   (count == 1 ? " keeps" : " keep") +
                                   " the model from being imported";
  text += "; " + std::to_string(numSupported) + " of " +
          countOf(report.numNodes, "node") +
          (numSupported == 1 || report.numNodes == 1 ? " is supported"
                                                     : " are supported");
  std::string missing, remedies;
  auto rows = collectRows(report);
  for (const auto &[op, row] : rows)
    if (row.isMissing)
      addTo(missing, op.str() + " (" + countOf(row.count, "node") + ")");
  for (const Remedy &remedy : kRemedies)
    if (llvm::any_of(rows, [&](const auto &entry) {
          return llvm::is_contained(entry.second.remedies, remedy.flag);
        }))
      addTo(remedies, remedy.text);
  if (!missing.empty())
    text += "; missing operators: " + missing;
  if (!remedies.empty())
    text += "; what to do: " + remedies;
  return text;
}

void adze::printTable(const ImportReport &report, llvm::raw_ostream &os) {
  constexpr llvm::StringRef columns[] = {"operator", "state"};
  size_t opWidth = columns[0].size();
  auto rows = collectRows(report);
  auto nameOf = [](llvm::StringRef op) {
    return op.empty() ? llvm::StringRef("(the model)") : op;
  };
  for (const auto &[op, row] : rows)
    opWidth = std::max(opWidth, nameOf(op).size());
  auto printRow = [&](llvm::StringRef count, llvm::StringRef op,
                      llvm::StringRef state, llvm::StringRef remedies) {
    std::string line;
    llvm::raw_string_ostream text(line);
    text << llvm::right_justify(count, 6) << "  "
         << llvm::left_justify(op, opWidth) << "  "
         << llvm::left_justify(state, 16) << "  " << remedies;
    os << llvm::StringRef(line).rtrim() << "\n";
  };
  printRow("issues", columns[0], columns[1], "what to do");
  for (const auto &[op, row] : rows)
    printRow(std::to_string(row.count), nameOf(op), describe(row),
             llvm::join(row.remedies, ", "));
}

void adze::printJSON(const ImportReport &report, llvm::StringRef path,
                     llvm::raw_ostream &os) {
  using llvm::json::fixUTF8;
  llvm::json::OStream json(os, /*IndentSize=*/2);
  bool allUnsupported = llvm::all_of(
      report.issues, [](auto &issue) { return issue.unsupported; });
  json.object([&] {
    json.attribute("model", fixUTF8(path));
    json.attribute("status", report.issues.empty() ? "ok"
                             : allUnsupported      ? "unsupported"
                                                   : "error");
    json.attribute("compiles", report.issues.empty());
    json.attribute("nodes", int64_t(report.numNodes));
    json.attribute("supported", int64_t(report.numNodes - report.numFailed));
    if (!report.issues.empty())
      json.attribute("summary", fixUTF8(summarize(report)));
    json.attributeArray("operators", [&] {
      for (const auto &[op, row] : collectRows(report)) {
        if (op.empty())
          continue;
        json.object([&, &op = op, &row = row] {
          json.attribute("operator", fixUTF8(op));
          json.attribute("issues", int64_t(row.count));
          json.attribute("state", describe(row));
          json.attributeArray("remedies", [&] {
            for (llvm::StringRef remedy : row.remedies)
              json.value(remedy);
          });
        });
      }
    });
    json.attributeArray("issues", [&] {
      for (const ImportIssue &issue : report.issues)
        json.object([&] {
          if (issue.isNode) {
            json.attribute("node", fixUTF8(issue.node));
            json.attribute("index", issue.index);
            json.attribute("op", fixUTF8(issue.op));
          }
          json.attribute("kind", issue.unsupported ? "unsupported" : "error");
          json.attribute("reason", fixUTF8(issue.text));
          json.attribute("missing", issue.isMissing);
        });
    });
    json.attributeArray("warnings", [&] {
      for (const ImportIssue &warning : report.warnings)
        json.value(fixUTF8(warning.message));
    });
  });
  os << "\n";
}
