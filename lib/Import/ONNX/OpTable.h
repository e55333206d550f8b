// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The one table of operators: (domain, name, version) to handler.
#ifndef ADZE_LIB_IMPORT_ONNX_OPTABLE_H
#define ADZE_LIB_IMPORT_ONNX_OPTABLE_H

#include "Binder.h"
#include "Tensors.h"

namespace adze::importer {

using Handler = mlir::LogicalResult (*)(Binder &);

struct OpRow {
  llvm::StringRef name;
  // First version of the definition that the handler supports.
  int first;
  unsigned required; // number of required operands
  Handler handler;
  llvm::StringRef note = ""; // unsupported cases, for docs/OpSupport.md
  int last = INT32_MAX;
  llvm::StringRef domain = "";
  /// True if operands may be sequences, optionals and maps.
  bool takesContainers = false;
  /// The names of types that the definition of ONNX allows and Adze does not
  /// support, separated by blanks.
  llvm::StringRef refused = "";
};

/// Returns the row of this version of an operator, or null.
const OpRow *findOp(llvm::StringRef domain, llvm::StringRef name, int version);
/// Returns the first version after `version` that is imported or expanded.
std::optional<int> findLaterVersion(llvm::StringRef domain,
                                    llvm::StringRef name, int version);

// Each family adds its rows.
void addElementwiseOps(std::vector<OpRow> &rows);
void addContractionOps(std::vector<OpRow> &rows);
void addPoolingOps(std::vector<OpRow> &rows);
void addNormalizationOps(std::vector<OpRow> &rows);
void addReductionOps(std::vector<OpRow> &rows);
void addDataMovementOps(std::vector<OpRow> &rows);
void addSliceOps(std::vector<OpRow> &rows);
void addIndexingOps(std::vector<OpRow> &rows);
void addSelectionOps(std::vector<OpRow> &rows);
void addSequenceOps(std::vector<OpRow> &rows);
void addShapeOps(std::vector<OpRow> &rows);
void addStringOps(std::vector<OpRow> &rows);
void addConstantOps(std::vector<OpRow> &rows);
void addResizeOps(std::vector<OpRow> &rows);
void addQuantizationOps(std::vector<OpRow> &rows);
void addControlFlowOps(std::vector<OpRow> &rows);
void addExperimentalOps(std::vector<OpRow> &rows);
void addEinsumOps(std::vector<OpRow> &rows);
void addIndexArithmeticOps(std::vector<OpRow> &rows);
void addImageOps(std::vector<OpRow> &rows);
void addMicrosoftAttentionOps(std::vector<OpRow> &rows);
void addMicrosoftExpertsOps(std::vector<OpRow> &rows);
void addMicrosoftFusedOps(std::vector<OpRow> &rows);
void addMicrosoftGenerationOps(std::vector<OpRow> &rows);
void addMicrosoftMatrixOps(std::vector<OpRow> &rows);
void addMicrosoftOps(std::vector<OpRow> &rows);
void addMlOps(std::vector<OpRow> &rows);
void addRandomOps(std::vector<OpRow> &rows);
void addRecurrentOps(std::vector<OpRow> &rows);
void addSamplingOps(std::vector<OpRow> &rows);
void addSignalOps(std::vector<OpRow> &rows);
void addSupportVectorOps(std::vector<OpRow> &rows);
void addTextOps(std::vector<OpRow> &rows);
void addTrainingOps(std::vector<OpRow> &rows);
void addTreeOps(std::vector<OpRow> &rows);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_OPTABLE_H
