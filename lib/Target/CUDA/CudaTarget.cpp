// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of CUDA targets, and the search for a toolkit.
#include "Target/CUDA/CudaTarget.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/IR/Builders.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;

namespace adze::cuda {

namespace {
struct SmFacts {
  StringLiteral chip, features;
  int64_t sharedLimit, multiprocessors;
};
// The PTX version is the first one that supports the SM and the instructions
// that the compiler emits for it.
constexpr SmFacts kSms[] = {
    {"sm_80", "+ptx80", 166912, 108},   {"sm_86", "+ptx80", 101376, 84},
    {"sm_89", "+ptx80", 101376, 142},   {"sm_90", "+ptx80", 232448, 132},
    {"sm_90a", "+ptx84", 232448, 132},  {"sm_100", "+ptx86", 232448, 148},
    {"sm_100a", "+ptx86", 232448, 148}, {"sm_120", "+ptx87", 101376, 170},
};
} // namespace

Expected<CudaTarget> CudaTarget::resolve(StringRef name) {
  StringRef chip = name;
  chip.consume_front("cuda:");
  for (const SmFacts &facts : kSms) {
    if (facts.chip != chip)
      continue;
    CudaTarget target;
    target.chip = chip.str();
    target.features = facts.features.str();
    target.sharedLimit = facts.sharedLimit;
    target.multiprocessors = facts.multiprocessors;
    StringRef number = chip.drop_front(3);
    target.archExact = number.consume_back("a");
    number.getAsInteger(10, target.sm);
    return target;
  }
  std::string known;
  for (const SmFacts &facts : kSms)
    known += (known.empty() ? "" : ", ") + facts.chip.str();
  return createStringError("expected a CUDA target of " + known +
                           ", but got '" + name.str() + "'");
}

tile::CudaTargetAttr CudaTarget::getAttr(mlir::MLIRContext &context) const {
  SmallVector<tile::TargetUnitAttr> units;
  SmallVector<tile::CudaFeature> features;
  // Each row of A and column of B has 32 bytes along the depth.
  auto addUnits = [&](StringRef name, int64_t rows, int64_t columns) {
    mlir::Builder b(&context);
    auto add = [&](mlir::Type lhs, mlir::Type rhs, mlir::Type sum) {
      constexpr int64_t depthBits = 32 * 8;
      int64_t depth = depthBits / tile::getStorageBits(lhs);
      units.push_back(tile::TargetUnitAttr::get(&context, name, lhs, rhs, sum,
                                                {rows, columns, depth}, 1,
                                                /*intrinsic=*/""));
    };
    for (mlir::Type type :
         {mlir::Type(b.getF16Type()), mlir::Type(b.getBF16Type()),
          mlir::Type(mlir::FloatTF32Type::get(&context))})
      add(type, type, b.getF32Type());
    for (bool isSigned : {false, true})
      add(b.getIntegerType(8, isSigned), b.getIntegerType(8, /*isSigned=*/true),
          b.getIntegerType(32, /*isSigned=*/true));
  };
  // The instruction exists on this exact target only; later chips do not have
  // it.
  if (chip == "sm_90a") {
    addUnits("wgmma", /*rows=*/64, /*columns=*/256);
    features.push_back(tile::CudaFeature::tma);
  }
  addUnits("mma", /*rows=*/16, /*columns=*/8);
  return tile::CudaTargetAttr::get(&context, chip, multiprocessors, sharedLimit,
                                   units, features);
}

std::unique_ptr<TargetMachine> CudaTarget::createMachine() const {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string problem;
  Triple triple("nvptx64-nvidia-cuda");
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return nullptr;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, chip, features, TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOptLevel::Aggressive));
}

Toolkit Toolkit::find() {
  Toolkit toolkit;
  SmallVector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto value = sys::Process::GetEnv(variable))
      roots.push_back(*value);
  // If the user names a toolkit, no other one is searched for.
  bool isNamed = !roots.empty();
  ErrorOr<std::string> onPath =
      std::make_error_code(std::errc::no_such_file_or_directory);
  if (!isNamed)
    onPath = sys::findProgramByName("ptxas");
  if (!isNamed)
    roots.push_back("/usr/local/cuda");
  if (onPath)
    roots.push_back(
        sys::path::parent_path(sys::path::parent_path(*onPath)).str());
  for (const std::string &root : roots) {
    SmallString<128> ptxas(root), libdevice(root);
    sys::path::append(ptxas, "bin", "ptxas");
    sys::path::append(libdevice, "nvvm", "libdevice", "libdevice.10.bc");
    if (toolkit.ptxas.empty() && sys::fs::can_execute(ptxas))
      toolkit.ptxas = ptxas.str().str();
    if (toolkit.libdevice.empty() && sys::fs::exists(libdevice))
      toolkit.libdevice = libdevice.str().str();
  }
  if (toolkit.ptxas.empty() && onPath)
    toolkit.ptxas = *onPath;
  return toolkit;
}

} // namespace adze::cuda
