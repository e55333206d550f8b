// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM IR to object code in memory.
#include "Target/CPU/CpuTarget.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace adze::cpu {

static void prepare(Module &module, const CpuTarget &target,
                    TargetMachine &machine) {
  module.setTargetTriple(Triple(target.triple));
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    // LLVM prefers 256 bits on CPUs whose clock used to drop with 512.
    if (target.vectorBits() == 512)
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(Attribute::NoUnwind);
  }
}

/// A function of many loops is a kernel of many small parts, such as a concat
/// of slices on the reference path. Vectors do for these: each loop eight
/// times, four vectors at a time, made LLVM look for the best addresses of
/// thousands of accesses, for most of the time that a model took.
static void limitUnrolling(Module &module) {
  constexpr size_t mostLoops = 64;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo info(dominators);
    SmallVector<Loop *, 4> loops = info.getLoopsInPreorder();
    if (loops.size() <= mostLoops)
      continue;
    // Outer ones, too: those of one iteration inside of them will go.
    for (Loop *loop : loops) {
      addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
      addStringMetadataToLoop(loop, "llvm.loop.interleave.count", 1);
    }
  }
}

/// Returns whether the code has the form of tile kernels: each function that
/// has control flow accesses memory by vectors.
static bool isVectorized(const Module &module) {
  bool found = false;
  for (const Function &function : module) {
    bool hasBranch = false, hasVector = false;
    for (const Instruction &instruction : instructions(function)) {
      hasBranch |= isa<BranchInst>(instruction);
      const Value *pointer = getLoadStorePointerOperand(&instruction);
      hasVector |= pointer && getLoadStoreType(&instruction)->isVectorTy();
    }
    if (hasBranch && !hasVector)
      return false;
    found |= hasVector;
  }
  return found;
}

namespace {
/// Marks loops that are too large to be unrolled. LLVM finds that out by
/// itself, but only after it has analyzed them, which takes an eighth of the
/// time of modules with many kernels.
class SkipLargeLoopsPass final : public PassInfoMixin<SkipLargeLoopsPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager) {
    constexpr size_t mostInstructions = 300;
    for (Loop *loop :
         manager.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      size_t count = 0;
      for (const BasicBlock *block : loop->blocks())
        count += block->size();
      if (count > mostInstructions)
        addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
    }
    return PreservedAnalyses::all();
  }
};
} // namespace

/// Returns the passes that code of vectors still needs: address computations
/// become few, and invariant ones leave their loops. The default pipeline of
/// LLVM spends most of its time on vectorization and repeated simplification,
/// which convert-tile-to-vector makes needless. What it gives to such code is
/// unrolling by a few, which is done at O2 here, too. Addresses of unrolled
/// loops stay where they are: outside, they would fill the registers.
static FunctionPassManager makeSimplification(unsigned optLevel) {
  FunctionPassManager manager;
  manager.addPass(SROAPass(SROAOptions::ModifyCFG));
  manager.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  manager.addPass(SimplifyCFGPass());
  manager.addPass(InstCombinePass());
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  manager.addPass(
      createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  if (optLevel >= 2) {
    manager.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    manager.addPass(InstCombinePass());
    manager.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
    manager.addPass(SkipLargeLoopsPass());
    manager.addPass(LoopUnrollPass(LoopUnrollOptions(optLevel)));
  }
  manager.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  manager.addPass(InstCombinePass());
  manager.addPass(SimplifyCFGPass());
  return manager;
}

static void optimize(Module &module, TargetMachine &machine,
                     unsigned optLevel) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  // What was unrolled and vectorised above has the right form already.
  tuning.LoopUnrolling = optLevel >= 2;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (isVectorized(module)) {
    ModulePassManager manager;
    // Ranges of indices tell which rows of a last block are the same.
    manager.addPass(IPSCCPPass());
    manager.addPass(
        createModuleToFunctionPassAdaptor(makeSimplification(optLevel)));
    manager.run(module, modules);
    return;
  }
  OptimizationLevel level =
      optLevel >= 2 ? OptimizationLevel::O2 : OptimizationLevel::O1;
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}

namespace {
/// Keeps LLVM from looking for the best addresses in loops: with many accesses
/// that is half of the time that code takes. Loops over vectors run as fast
/// without it.
class WithoutStrengthReduction final : public OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return pass != "Loop Strength Reduction";
  }
};
} // namespace

/// The host program of a great model is one function with a block a launch, and
/// addresses that live across most of them: what LLVM does to these grows with
/// the square of the blocks.
static bool isHuge(const Module &module) {
  constexpr size_t mostBlocks = 2048;
  return llvm::any_of(module, [](const Function &function) {
    return function.size() > mostBlocks;
  });
}

/// Returns true if the code keeps values in the tile registers of AMX. LLVM
/// makes no unoptimized code for those that blocks hand over.
static bool usesTiles(const Module &module) {
  return llvm::any_of(module, [](const Function &function) {
    return function.getName().starts_with("llvm.x86.tile");
  });
}

/// Keeps unoptimized code for x86 from AVX512-FP16. There LLVM 22 holds bf16 in
/// registers of f16, and cannot select zeros that its optimizations left.
static void avoidHalfRegisters(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    StringRef features =
        function.getFnAttribute("target-features").getValueAsString();
    function.addFnAttr(
        "target-features",
        (features + (features.empty() ? "" : ",") + "-avx512fp16").str());
  }
}

Error emitObject(Module &module, const CpuTarget &target, unsigned optLevel,
                 SmallVectorImpl<char> &object) {
  std::unique_ptr<TargetMachine> machine = target.createMachine(optLevel);
  prepare(module, target, *machine);

  std::string problem;
  raw_string_ostream problemStream(problem);
  if (verifyModule(module, &problemStream))
    return createStringError("invalid LLVM IR: " + problem);

  if (optLevel == 0 || isHuge(module)) {
    machine->setOptLevel(usesTiles(module) ? CodeGenOptLevel::Less
                                           : CodeGenOptLevel::None);
    machine->setO0WantsFastISel(true);
    if (machine->getTargetTriple().isX86())
      avoidHalfRegisters(module);
  } else {
    if (optLevel < 2 || isVectorized(module)) {
      static WithoutStrengthReduction gate; // it has no state
      module.getContext().setOptPassGate(gate);
    }
    limitUnrolling(module);
    optimize(module, *machine, optLevel);
  }

  raw_svector_ostream stream(object);
  legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   CodeGenFileType::ObjectFile))
    return createStringError("target cannot write object files");
  codegen.run(module);
  return Error::success();
}

} // namespace adze::cpu
