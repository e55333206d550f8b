// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The stages of a compilation and the pass pipelines that they run.
#ifndef ADZE_PIPELINE_STAGES_H
#define ADZE_PIPELINE_STAGES_H

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <set>
#include <string>

namespace adze {

enum class Stage {
#define ADZE_STAGE(id, name, text) id,
#include "Pipeline/Stages.def"
};

llvm::StringRef getStageName(Stage stage);
llvm::StringRef getStageDescription(Stage stage);
std::optional<Stage> findStage(llvm::StringRef name);

/// Quantization of constant weights of f32 products.
struct WeightsPrecision {
  int64_t bits = 0; // 4 or 8; 0: they stay f32
  int64_t block = 32;
};

/// The options of the stages; held by value.
struct StageOptions {
  unsigned optLevel = 2;
  /// True if constant subgraphs are evaluated; false inside of the evaluator.
  bool foldConstants = true;
  /// True if stage graph ends with operators and layouts of ONNX.
  bool forExport = false;
  /// True if no choice may depend on the number of rows.
  bool batchInvariant = false;
  /// The type in which products of f32 are computed: f32, bf16 or f16.
  std::string precision = "f32";
  /// Products that stay in f32, by the indices of graph-set-precision.
  std::vector<int64_t> wideProducts;
  /// True if an input selects the products that round to `precision`.
  bool probesPrecision = false;
  WeightsPrecision weights;
  /// The type of states that are f32 in the model: f32, f16, bf16 or int8.
  std::string cachePrecision = "f32";
  /// Pairs INPUT=OUTPUT of states, or "none".
  std::vector<std::string> states;
  /// True if 3x3 convolutions use Winograd's algorithm where it is faster.
  bool winograd = true;
  /// True if stage graph at O0 does not change the ops.
  bool literal = false;
  /// True if LLVM does not optimise.
  bool quickCode = false;
  /// True if tile kernels are lowered through linalg, op by op, as all are at
  /// O0: slow, and independent of convert-tile-to-vector. Kernels that print or
  /// check their bounds always are.
  bool plainKernels = false;
  /// Exceptions of plainKernels.
  std::set<std::string> fastKernels;
  /// True if tile kernels of the text check their bounds.
  bool checkBounds = false;
  /// Tests crash handling.
  unsigned injectCrash = 0; // threads that crash at once
  /// Tests that wrong results are found.
  bool injectFault = false;

  /// Returns the optimisation level of LLVM.
  unsigned getCodeLevel() const { return quickCode ? 0 : optLevel < 2 ? 1 : 2; }
};

/// Adds graph optimisations and clustering. At O0 every op is a cluster.
void buildGraphStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Adds passes that outline clusters into functions and convert them to tile
/// kernels.
void buildTileStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Adds the conversion of remaining functions to loops on memrefs (the
/// reference path).
void buildLinalgStage(mlir::OpPassManager &manager,
                      const StageOptions &options);

/// Adds memory planning of the host program.
void buildHostStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Adds the lowering of all kernels to CPU code in the LLVM dialect.
void buildKernelStage(mlir::OpPassManager &manager,
                      const StageOptions &options);

/// Adds the lowering of the host program to the LLVM dialect.
void buildLLVMStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Adds the passes of `stage`; import has none.
void buildStage(Stage stage, mlir::OpPassManager &manager,
                const StageOptions &options);

/// Registers adze-graph, adze-tile, adze-cpu, adze-cuda and adze.
void registerPipelines();

} // namespace adze

#endif // ADZE_PIPELINE_STAGES_H
