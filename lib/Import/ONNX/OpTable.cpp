// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The table of operators, and the page that is printed from it.
#include "OpTable.h"
#include "Import/ONNX/Import.h"
#include "Import/ONNX/MicrosoftOperators.h"
#include "Reader.h"
#include "Types.h"
#include "llvm/Support/raw_ostream.h"

using namespace adze;
using namespace adze::importer;

using Table = llvm::StringMap<std::vector<OpRow>>;

static std::vector<OpRow> makeRows() {
  std::vector<OpRow> rows;
  addElementwiseOps(rows);
  addContractionOps(rows);
  addPoolingOps(rows);
  addNormalizationOps(rows);
  addReductionOps(rows);
  addDataMovementOps(rows);
  addSliceOps(rows);
  addIndexingOps(rows);
  addSelectionOps(rows);
  addSequenceOps(rows);
  addShapeOps(rows);
  addConstantOps(rows);
  addResizeOps(rows);
  addQuantizationOps(rows);
  addControlFlowOps(rows);
  addEinsumOps(rows);
  addExperimentalOps(rows);
  addIndexArithmeticOps(rows);
  addMicrosoftAttentionOps(rows);
  addMicrosoftExpertsOps(rows);
  addMicrosoftFusedOps(rows);
  addMicrosoftGenerationOps(rows);
  addMicrosoftMatrixOps(rows);
  addMicrosoftOps(rows);
  addMlOps(rows);
  addRandomOps(rows);
  addImageOps(rows);
  addRecurrentOps(rows);
  addSamplingOps(rows);
  addSignalOps(rows);
  addStringOps(rows);
  addSupportVectorOps(rows);
  addTextOps(rows);
  addTrainingOps(rows);
  addTreeOps(rows);
  return rows;
}

static Table makeTable() {
  Table table;
  for (const OpRow &row : makeRows())
    table[row.name].push_back(row);
  return table;
}

const OpRow *adze::importer::findOp(llvm::StringRef domain,
                                    llvm::StringRef name, int version) {
  static const Table table = makeTable();
  auto found = table.find(name);
  if (found == table.end())
    return nullptr;
  for (const OpRow &row : found->second)
    if (row.domain == domain && row.first <= version && version <= row.last)
      return &row;
  return nullptr;
}

std::optional<int> adze::importer::findLaterVersion(llvm::StringRef domain,
                                                    llvm::StringRef name,
                                                    int version) {
  std::optional<int> first;
  for (const OperatorVersion &op : getAllOperators())
    if (op.domain == domain && op.name == name && op.sinceVersion > version &&
        !op.deprecated &&
        (op.hasFunction || findOp(domain, name, op.sinceVersion)))
      first = std::min(first.value_or(op.sinceVersion), op.sinceVersion);
  return first;
}

namespace {
/// A row of the page.
struct Line {
  std::string imported, expanded, missing;
  std::string types; // of the newest supported version
  llvm::StringRef note;
};
} // namespace

static void add(std::string &list, int version) {
  list += (list.empty() ? "" : ", ") + std::to_string(version);
}

void adze::printOpSupport(llvm::raw_ostream &os) {
  os << "<!-- Printed by `adze-import --op-support`; do not edit. -->\n"
        "# Operators\n\n"
        "The operators of ONNX, by the versions of their definitions. "
        "*Imported*: a handler makes graph ops of it.\n"
        "*Expanded*: ONNX defines it by a function of other operators, which "
        "are imported in its place, as far as they\nare supported. *Missing*: "
        "an error that names the node (`--check` lists all).\n"
        "*Types*: what the type variables of the newest definition stand for, "
        "also in sequences and optionals; every node is\nheld to what the "
        "definition of its own version allows.\nONNX defines no operators of "
        "com.microsoft: these are as ONNX Runtime documents them.\n";
  std::vector<OperatorVersion> operators = getAllOperators();
  for (llvm::StringRef domain :
       {"", "ai.onnx.ml", "ai.onnx.preview.training", kMicrosoftDomain}) {
    os << "\n## " << (domain.empty() ? "ai.onnx" : domain)
       << "\n\n| operator | imported | expanded | missing | not supported "
          "yet | types |\n|---|---|---|---|---|---|\n";
    llvm::MapVector<llvm::StringRef, Line> lines;
    for (const OperatorVersion &op : operators) {
      if (op.domain != domain || op.deprecated)
        continue;
      Line &line = lines[op.name];
      const OpRow *row = findOp(op.domain, op.name, op.sinceVersion);
      if (row)
        line.note = row->note;
      if (row || op.hasFunction)
        line.types = printTypes(op.definition, row);
      add(row              ? line.imported
          : op.hasFunction ? line.expanded
                           : line.missing,
          op.sinceVersion);
    }
    for (const auto &[name, line] : lines)
      os << "| " << name << " | " << line.imported << " | " << line.expanded
         << " | " << line.missing << " | " << line.note << " | " << line.types
         << " |\n";
  }
}
