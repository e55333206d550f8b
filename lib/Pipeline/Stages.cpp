// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The list of stages, and the named pipelines made of it.
#include "Pipeline/Stages.h"
#include "Target/CUDA/CompileKernels.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace adze {

StringRef getStageName(Stage stage) {
  static constexpr llvm::StringLiteral names[] = {
#define ADZE_STAGE(id, name, text) name,
#include "Pipeline/Stages.def"
  };
  return names[static_cast<unsigned>(stage)];
}

StringRef getStageDescription(Stage stage) {
  static constexpr llvm::StringLiteral texts[] = {
#define ADZE_STAGE(id, name, text) text,
#include "Pipeline/Stages.def"
  };
  return texts[static_cast<unsigned>(stage)];
}

std::optional<Stage> findStage(StringRef name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(Stage::LLVM); ++i)
    if (getStageName(static_cast<Stage>(i)) == name)
      return static_cast<Stage>(i);
  return std::nullopt;
}

void buildStage(Stage stage, OpPassManager &manager,
                const StageOptions &options) {
  switch (stage) {
  case Stage::Import:
    return;
  case Stage::Graph:
    return buildGraphStage(manager, options);
  case Stage::Tile:
    return buildTileStage(manager, options);
  case Stage::Linalg:
    return buildLinalgStage(manager, options);
  case Stage::Host:
    return buildHostStage(manager, options);
  case Stage::Kernel:
    return buildKernelStage(manager, options);
  case Stage::LLVM:
    return buildLLVMStage(manager, options);
  }
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> optLevel{*this, "O", llvm::cl::desc("Optimisation level"),
                            llvm::cl::init(2)};

  StageOptions get() const {
    StageOptions result;
    result.optLevel = optLevel;
    return result;
  }
};
} // namespace

static void registerStages(StringRef name, StringRef description, Stage first,
                           Stage last) {
  PassPipelineRegistration<PipelineOptions>(
      name, description,
      [=](OpPassManager &manager, const PipelineOptions &options) {
        for (unsigned i = static_cast<unsigned>(first);
             i <= static_cast<unsigned>(last); ++i)
          buildStage(static_cast<Stage>(i), manager, options.get());
      });
}

namespace {
struct CudaPipelineOptions : PassPipelineOptions<CudaPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("cuda:sm_NN"),
                             llvm::cl::init("cuda:sm_90a")};
  Option<bool> libdevice{*this, "libdevice",
                         llvm::cl::desc("Functions of the CUDA toolkit, where "
                                        "there is one, instead of ours"),
                         llvm::cl::init(false)};
};
} // namespace

/// Registers the pipeline of device images up to LLVM IR.
static void registerCudaPipeline() {
  PassPipelineRegistration<CudaPipelineOptions>(
      "adze-cuda", "Tile kernels to a gpu.module in the LLVM dialect",
      [](OpPassManager &manager, const CudaPipelineOptions &options) {
        cuda::CompileOptions compile;
        auto target = cuda::CudaTarget::resolve(options.target);
        if (!target)
          llvm::report_fatal_error(target.takeError(),
                                   /*gen_crash_diag=*/false);
        compile.target = *target;
        if (options.libdevice)
          compile.toolkit = cuda::Toolkit::find();
        cuda::buildCudaPipeline(manager, compile);
      });
}

void registerPipelines() {
  registerStages("adze-graph", "Graph algebra and clusters", Stage::Graph,
                 Stage::Graph);
  registerStages("adze-tile", "Clusters to tile kernels", Stage::Tile,
                 Stage::Tile);
  registerStages("adze-cpu", "Launches and kernels to the LLVM dialect",
                 Stage::Linalg, Stage::LLVM);
  registerCudaPipeline();
  registerStages("adze", "All stages, for a CPU", Stage::Graph, Stage::LLVM);
}

} // namespace adze
