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

/// How constant weights of f32 products are rounded.
struct WeightsPrecision {
  int64_t bits = 0; // 4 or 8; 0: they stay f32
  int64_t block = 32;
};

/// What the stages are told; held by value.
struct StageOptions {
  unsigned optLevel = 2;
  /// Whether constant subgraphs are evaluated; off inside the evaluator.
  bool foldConstants = true;
  /// Whether stage graph ends with ONNX's operators in ONNX's layouts.
  bool forExport = false;
  /// Whether no choice may depend on how many rows there are.
  bool batchInvariant = false;
  /// The type that products of f32 are computed in: f32, bf16 or f16.
  std::string precision = "f32";
  /// Products that stay in f32, by graph-set-precision's numbers.
  std::vector<int64_t> wideProducts;
  /// Whether an input says which products round to `precision`.
  bool probesPrecision = false;
  WeightsPrecision weights;
  /// The type of caches that are f32 in the model: f32, f16, bf16 or int8.
  std::string cachePrecision = "f32";
  /// Pairs INPUT=OUTPUT of values of which the output continues the input, or
  /// "none".
  std::vector<std::string> states;
  /// 3x3 convolutions by minimal filtering where that is faster.
  bool winograd = true;
  /// Whether stage graph at O0 leaves the ops as they are.
  bool literal = false;
  /// Whether LLVM leaves the code as it is.
  bool quickCode = false;
  /// Whether tile kernels go by way of linalg, op by op, as all do at O0: slow,
  /// and nothing that the fast road does is in it. Kernels that print or check
  /// their bounds always do.
  bool plainKernels = false;
  /// Those that do not, beside plainKernels.
  std::set<std::string> fastKernels;
  /// Whether tile kernels of the text check their bounds.
  bool checkBounds = false;
  /// For tests of what happens when a pass dies.
  unsigned injectCrash = 0; // threads that crash at once
  /// For tests of whether wrong results are found.
  bool injectFault = false;

  /// What LLVM is asked for.
  unsigned getCodeLevel() const { return quickCode ? 0 : optLevel < 2 ? 1 : 2; }
};

/// Graph algebra and clusters. At O0 every op is a cluster of its own.
void buildGraphStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Clusters become functions, and those that can be become tile kernels.
void buildTileStage(mlir::OpPassManager &manager, const StageOptions &options);

/// The functions left become loops over memrefs (the reference path).
void buildLinalgStage(mlir::OpPassManager &manager,
                      const StageOptions &options);

/// The host program gets its places.
void buildHostStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Kernels of any kind become CPU code in the LLVM dialect.
void buildKernelStage(mlir::OpPassManager &manager,
                      const StageOptions &options);

/// The host program becomes code in the LLVM dialect.
void buildLLVMStage(mlir::OpPassManager &manager, const StageOptions &options);

/// Adds the passes of `stage`; import has none.
void buildStage(Stage stage, mlir::OpPassManager &manager,
                const StageOptions &options);

/// Registers adze-graph, adze-tile, adze-cpu, adze-cuda and adze.
void registerPipelines();

} // namespace adze

#endif // ADZE_PIPELINE_STAGES_H
