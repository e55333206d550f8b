// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits LLVM IR as PTX text.
#include "Target/CUDA/CudaTarget.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adze::cuda {

/// Links the functions of libdevice that the module calls.
static Error linkDevice(Module &module, const Toolkit &toolkit) {
  bool needed = any_of(module, [](Function &f) {
    return f.isDeclaration() && f.getName().starts_with("__nv_");
  });
  if (!needed)
    return Error::success();
  if (toolkit.libdevice.empty())
    return createStringError("expected no function of libdevice without a CUDA "
                             "toolkit");
  SMDiagnostic problem;
  std::unique_ptr<Module> library =
      getLazyIRFileModule(toolkit.libdevice, problem, module.getContext());
  if (!library)
    return createStringError("cannot read '" + toolkit.libdevice +
                             "': " + problem.getMessage().str());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  bool failed = Linker::linkModules(
      module, std::move(library), Linker::LinkOnlyNeeded,
      [](Module &linked, const StringSet<> &names) {
        internalizeModule(linked, [&](const GlobalValue &value) {
          return !value.hasName() || !names.contains(value.getName());
        });
      });
  if (failed)
    return createStringError("cannot link libdevice");
  // The PTX texts of several kernels are concatenated, so each kernel gets its
  // own copy of what it links.
  auto entry = find_if(module, [](Function &f) {
    return f.getCallingConv() == CallingConv::PTX_Kernel;
  });
  for (GlobalObject &object : module.global_objects())
    if (entry != module.end() && object.hasLocalLinkage())
      object.setName(object.getName() + "$" + entry->getName());
  return Error::success();
}

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = true; // for pairs of f16 and bf16
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Other vectors have no instructions, but hide scalars from patterns.
  constexpr unsigned registerBits = 32;
  builder.registerVectorizerEndEPCallback(
      [&](FunctionPassManager &passes, OptimizationLevel) {
        ScalarizerPassOptions options;
        options.ScalarizeMinBits = registerBits;
        passes.addPass(ScalarizerPass(options));
      });
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

/// Replaces (x & m) | c with one instruction: ptxas emits two, since it gives
/// each operation its constant as an immediate operand.
static void combineLogic(Module &module) {
  using namespace PatternMatch;
  auto *word = Type::getInt32Ty(module.getContext());
  auto *combine =
      InlineAsm::get(FunctionType::get(word, {word, word, word}, false),
                     "lop3.b32 $0, $1, $2, $3, 0xEA;", "=r,r,n,n",
                     /*hasSideEffects=*/false);
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      Value *x;
      ConstantInt *mask, *bits;
      if (!match(&instruction,
                 m_Or(m_OneUse(m_And(m_Value(x), m_ConstantInt(mask))),
                      m_ConstantInt(bits))) ||
          instruction.getType() != word)
        continue;
      auto *call = CallInst::Create(combine, {x, mask, bits}, "",
                                    instruction.getIterator());
      instruction.replaceAllUsesWith(call);
      RecursivelyDeleteTriviallyDeadInstructions(&instruction);
    }
}

Expected<std::string> emitPTX(Module &module, const CudaTarget &target,
                              const Toolkit &toolkit) {
  std::unique_ptr<TargetMachine> machine = target.createMachine();
  if (!machine)
    return createStringError("LLVM has no NVPTX target");
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  if (Error error = linkDevice(module, toolkit))
    return error;
  std::string problem;
  raw_string_ostream problemStream(problem);
  if (verifyModule(module, &problemStream))
    return createStringError("invalid LLVM IR: " + problem);
  optimize(module, *machine);
  combineLogic(module);

  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   CodeGenFileType::AssemblyFile))
    return createStringError("target cannot write assembly");
  codegen.run(module);
  return text.str().str();
}

std::string concatenatePTX(ArrayRef<std::string> texts) {
  std::string all;
  for (StringRef text : texts) {
    // The version, target, and address size directives may occur only once.
    size_t header = text.find(".address_size");
    size_t start = header == StringRef::npos ? 0 : text.find('\n', header);
    if (!all.empty() && start != StringRef::npos)
      text = text.drop_front(start);
    all += text;
  }
  return all;
}

} // namespace adze::cuda
