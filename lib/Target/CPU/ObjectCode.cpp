// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles LLVM IR to object code in memory.
#include "Target/CPU/CpuTarget.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
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
    // LLVM prefers 256-bit vectors on CPUs whose clock frequency drops with
    // 512-bit ones.
    if (target.vectorBits() == 512)
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(Attribute::NoUnwind);
  }
}

/// Limits unrolling in functions with many loops, such as a concatenation of
/// slices on the reference path. Vectorization alone is sufficient for these:
/// with loops that were also unrolled and interleaved, LLVM spent most of the
/// model's compile time on addressing modes of thousands of accesses.
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
    // Outer loops are included: inner loops of one iteration are removed later.
    for (Loop *loop : loops) {
      addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
      addStringMetadataToLoop(loop, "llvm.loop.interleave.count", 1);
    }
  }
}

/// Returns true if the instruction loads or stores a vector, or elements of one
/// that a mask selects.
static bool accessesVector(const Instruction &instruction) {
  if (getLoadStorePointerOperand(&instruction))
    return getLoadStoreType(&instruction)->isVectorTy();
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  switch (call ? call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    return true;
  default:
    return false;
  }
}

/// Returns true if the code has the form of tile kernels: each function with
/// control flow accesses memory through vectors.
static bool isVectorized(const Module &module) {
  bool found = false;
  for (const Function &function : module) {
    bool hasBranch = false, hasVector = false;
    for (const Instruction &instruction : instructions(function)) {
      hasBranch |= isa<BranchInst>(instruction);
      hasVector |= accessesVector(instruction);
    }
    if (hasBranch && !hasVector)
      return false;
    found |= hasVector;
  }
  return found;
}

/// Returns true if a call of a function executes each instruction at most once,
/// on scalars: formulas of sizes, and the sequence of launches of a host
/// program. To optimize these takes longer than many runs gain.
static bool isStraight(Module &module) {
  return !isVectorized(module) && llvm::none_of(module, [](Function &function) {
    if (function.isDeclaration())
      return false;
    DominatorTree dominators(function);
    return !LoopInfo(dominators).empty();
  });
}

namespace {
/// Unrolls innermost loops that are short, or whose iterations are few and
/// known, such as taps of a convolution: the others have been unrolled as far
/// as registers allow. Functions without such loops are not analyzed further.
class UnrollShortLoopsPass final : public PassInfoMixin<UnrollShortLoopsPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager) {
    bool isAny = false;
    for (Loop *loop :
         manager.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      bool isShort = canUnroll(*loop, function, manager);
      isAny |= isShort;
      if (!isShort)
        addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
    }
    if (!isAny)
      return PreservedAnalyses::all();
    return LoopUnrollPass(LoopUnrollOptions(/*OptLevel=*/2))
        .run(function, manager);
  }

private:
  static bool canUnroll(const Loop &loop, Function &function,
                        FunctionAnalysisManager &manager) {
    constexpr size_t shortLoop = 24, longestLoop = 300, fewIterations = 8;
    if (!loop.isInnermost())
      return false;
    size_t count = 0;
    for (const BasicBlock *block : loop.blocks())
      count += block->size();
    if (count <= shortLoop)
      return true;
    if (count > longestLoop)
      return false;
    size_t iterations = manager.getResult<ScalarEvolutionAnalysis>(function)
                            .getSmallConstantTripCount(&loop);
    return iterations > 0 && iterations <= fewIterations; // 0: unknown
  }
};
} // namespace

/// Returns the passes that vectorized code still needs: they reduce address
/// computations and hoist loop invariants. LLVM's default pipeline spends most
/// of its time on vectorization, unrolling and repeated simplification, which
/// code from convert-tile-to-vector does not need.
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
  if (optLevel >= 2)
    manager.addPass(UnrollShortLoopsPass());
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
  // Code that was unrolled and vectorized above already has the right form.
  tuning.LoopUnrolling = optLevel >= 2;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (isVectorized(module)) {
    ModulePassManager manager;
    // Value ranges of indices show which rows of a last block are equal.
    manager.addPass(IPSCCPPass(IPSCCPOptions(/*AllowFuncSpec=*/false)));
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
/// Generates code without the passes of the given names.
class CodeGenPasses final : public legacy::PassManager {
public:
  explicit CodeGenPasses(ArrayRef<StringRef> omitted) : omitted(omitted) {}

  void add(Pass *pass) override {
    if (is_contained(omitted, pass->getPassName()))
      delete pass;
    else
      legacy::PassManager::add(pass);
  }

private:
  ArrayRef<StringRef> omitted;
};
} // namespace

/// Returns the names of the passes of code generation that vectorized code does
/// not need.
static SmallVector<StringRef> getOmittedPasses(const Triple &triple) {
  // It takes half of the time for loops with many accesses, and loops over
  // vectors run as fast without it.
  SmallVector<StringRef> names = {"Loop Strength Reduction"};
  // CPUs for x86 execute out of order, and code was scheduled before registers
  // were allocated.
  if (triple.isX86())
    names.push_back("Post RA top-down list latency scheduler");
  return names;
}

/// Returns true for functions with very many blocks. The host program of a
/// large model is one function with a block for each launch and addresses that
/// are live across most of them: the time of LLVM's passes grows with the
/// square of the number of blocks.
static bool isHuge(const Module &module) {
  constexpr size_t mostBlocks = 2048;
  return llvm::any_of(module, [](const Function &function) {
    return function.size() > mostBlocks;
  });
}

/// Returns true if the code keeps values in the tile registers of AMX. At -O0,
/// LLVM cannot compile tile values that are live across blocks.
static bool usesTiles(const Module &module) {
  return llvm::any_of(module, [](const Function &function) {
    return function.getName().starts_with("llvm.x86.tile");
  });
}

/// Keeps unoptimized code for x86 from AVX512-FP16. There LLVM 22 holds bf16 in
/// registers of f16, and cannot select zeros that its optimizations left.
static void avoidHalfRegisters(Module &module, bool isOptimized) {
  for (Function &function : module) {
    if (function.isDeclaration() || (isOptimized && !function.hasOptNone()))
      continue;
    StringRef features =
        function.getFnAttribute("target-features").getValueAsString();
    function.addFnAttr(
        "target-features",
        (features + (features.empty() ? "" : ",") + "-avx512fp16").str());
  }
}

/// Aligns the stack of functions with long vectors to a cache line. The calling
/// convention guarantees 16 bytes, so a spilled vector could be in two lines,
/// depending on the caller: a Zen 4 then reloads it so slowly that the loop of
/// a product took three times as long.
static void alignStack(Module &module) {
  constexpr unsigned least = 256, lineBytes = 64;
  auto isLong = [](const Value *value) {
    auto *type = dyn_cast<FixedVectorType>(value->getType());
    return type && type->getPrimitiveSizeInBits() >= least;
  };
  for (Function &function : module)
    if (any_of(instructions(function), [&](const Instruction &instruction) {
          return isLong(&instruction) || any_of(instruction.operands(), isLong);
        }))
      function.addFnAttr(Attribute::getWithStackAlignment(module.getContext(),
                                                          Align(lineBytes)));
}

Error emitObject(Module &module, const CpuTarget &target, unsigned optLevel,
                 SmallVectorImpl<char> &object) {
  std::unique_ptr<TargetMachine> machine = target.createMachine(optLevel);
  prepare(module, target, *machine);

  std::string problem;
  raw_string_ostream problemStream(problem);
  if (verifyModule(module, &problemStream))
    return createStringError("invalid LLVM IR: " + problem);

  bool isOptimized = optLevel > 0 && !isHuge(module) && !isStraight(module);
  if (machine->getTargetTriple().isX86())
    avoidHalfRegisters(module, isOptimized);
  SmallVector<StringRef> omitted;
  if (!isOptimized) {
    machine->setOptLevel(usesTiles(module) ? CodeGenOptLevel::Less
                                           : CodeGenOptLevel::None);
    machine->setO0WantsFastISel(true);
  } else {
    if (optLevel < 2 || isVectorized(module))
      omitted = getOmittedPasses(machine->getTargetTriple());
    limitUnrolling(module);
    optimize(module, *machine, optLevel);
  }

  if (machine->getTargetTriple().isX86())
    alignStack(module);
  raw_svector_ostream stream(object);
  CodeGenPasses codegen(omitted);
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   CodeGenFileType::ObjectFile))
    return createStringError("target cannot write object files");
  codegen.run(module);
  return Error::success();
}

} // namespace adze::cpu
