// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of a CPU level, read from LLVM's tables.
#include "Target/CPU/CpuTarget.h"
#include "adze_module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>
#ifdef __x86_64__
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace llvm;

namespace adze::cpu {

static void initializeTargetsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

namespace {
struct FeatureBit {
  const char *name; // LLVM's name of the feature
  uint64_t bit;     // the bit of adze_module.h
};
} // namespace

static constexpr FeatureBit featureBits[] = {
    {"sse4.2", ADZE_X86_SSE42},
    {"avx", ADZE_X86_AVX},
    {"avx2", ADZE_X86_AVX2},
    {"fma", ADZE_X86_FMA},
    {"f16c", ADZE_X86_F16C},
    {"bmi2", ADZE_X86_BMI2},
    {"avx512f", ADZE_X86_AVX512F},
    {"avx512bw", ADZE_X86_AVX512BW},
    {"avx512cd", ADZE_X86_AVX512CD},
    {"avx512dq", ADZE_X86_AVX512DQ},
    {"avx512vl", ADZE_X86_AVX512VL},
    {"avx512vnni", ADZE_X86_AVX512VNNI},
    {"avx512bf16", ADZE_X86_AVX512BF16},
    {"avx512fp16", ADZE_X86_AVX512FP16},
    {"amx-tile", ADZE_X86_AMX_TILE},
    {"amx-int8", ADZE_X86_AMX_INT8},
    {"amx-bf16", ADZE_X86_AMX_BF16},
    {"popcnt", ADZE_X86_POPCNT},
    {"lzcnt", ADZE_X86_LZCNT},
    {"bmi", ADZE_X86_BMI},
    {"movbe", ADZE_X86_MOVBE},
    {"gfni", ADZE_X86_GFNI},
    {"avxvnni", ADZE_X86_AVXVNNI},
    {"avx512vbmi", ADZE_X86_AVX512VBMI},
    {"avx512vbmi2", ADZE_X86_AVX512VBMI2},
    {"avx512ifma", ADZE_X86_AVX512IFMA},
    {"avx512bitalg", ADZE_X86_AVX512BITALG},
    {"avx512vpopcntdq", ADZE_X86_AVX512VPOPCNTDQ},
};

/// Features that LLVM would use where the CPU has them, but that the module's
/// note does not record: a run time could not reject the module on a CPU
/// without them.
static constexpr const char *unusedFeatures[] = {
    "sse4a",   "xop",     "fma4", "tbm", // only in CPUs by AMD
    "avx10.1", "avx10.2", "egpr", "ndd",       "nf",        "ccmp",
    "cf",      "zu",      "ppx",  "push2pop2", "cmpccxadd", "movrs"};

static std::string hostFeatures() {
  SmallVector<std::string> list;
  for (const auto &feature : sys::getHostCPUFeatures())
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(list); // the iteration order of a StringMap is not defined
  return join(list, ",");
}

Expected<CpuTarget> CpuTarget::resolve(StringRef triple, StringRef cpu) {
  initializeTargetsOnce();
  CpuTarget result;
  Triple parsed(triple.empty() ? sys::getDefaultTargetTriple()
                               : Triple::normalize(triple));
  // The generated code does not depend on the vendor and environment of the
  // build host.
  result.triple = (parsed.getArchName() + "-unknown-linux-gnu").str();
  if (parsed.getArch() == Triple::x86_64)
    result.elfMachine = ELF::EM_X86_64;
  else if (parsed.getArch() == Triple::aarch64)
    result.elfMachine = ELF::EM_AARCH64;
  else
    return createStringError("expected an x86_64 or aarch64 triple, but got '" +
                             triple + "'");

  bool isHost =
      parsed.getArch() == Triple(sys::getDefaultTargetTriple()).getArch();
  result.cpu = cpu.str();
  bool isNative = cpu == "native" || cpu.empty();
  if (isNative) {
    result.cpu = isHost ? sys::getHostCPUName().str() : "generic";
    result.features = isHost ? hostFeatures() : "";
  }

  result.isHost = isNative && isHost;

  std::string error;
  const llvm::Target *target =
      TargetRegistry::lookupTarget(Triple(result.triple), error);
  if (!target)
    return createStringError(error);
  auto makeSubtarget = [&](StringRef name, StringRef features) {
    return std::unique_ptr<MCSubtargetInfo>(
        target->createMCSubtargetInfo(Triple(result.triple), name, features));
  };
  // For an unknown CPU, LLVM prints a message of its own when it creates the
  // subtarget.
  auto anyCpu = makeSubtarget("", "");
  if (!anyCpu || !anyCpu->isCPUStringValid(result.cpu))
    return createStringError("unknown CPU '" + cpu + "' for " + result.triple +
                             "; --mcpu takes LLVM's names, such as "
                             "x86-64-v3, znver4 and sapphirerapids");
  auto subtarget = makeSubtarget(result.cpu, result.features);
  if (result.elfMachine == ELF::EM_X86_64)
    for (const char *unused : unusedFeatures)
      if (subtarget->checkFeatures(std::string("+") + unused))
        result.features +=
            (result.features.empty() ? "-" : ",-") + std::string(unused);

  result.moduleFeatures = 0;
  if (result.elfMachine == ELF::EM_X86_64)
    for (const FeatureBit &feature : featureBits)
      if (subtarget->checkFeatures(std::string("+") + feature.name))
        result.moduleFeatures |= feature.bit;
  return result;
}

Error CpuTarget::requestRegisters() const {
#ifdef __x86_64__
  constexpr long requestPermission = 0x1023, tileData = 18;
  if (elfMachine == ELF::EM_X86_64 && (moduleFeatures & ADZE_X86_AMX_TILE) &&
      syscall(SYS_arch_prctl, requestPermission, tileData))
    return createStringError(std::error_code(errno, std::generic_category()),
                             "the system refuses the tile registers of AMX");
#endif
  return Error::success();
}

unsigned CpuTarget::vectorBits() const {
  if (moduleFeatures & ADZE_X86_AVX512F)
    return 512;
  return moduleFeatures & ADZE_X86_AVX ? 256 : 128;
}

std::unique_ptr<TargetMachine>
CpuTarget::createMachine(unsigned optLevel) const {
  std::string error;
  const llvm::Target *target =
      TargetRegistry::lookupTarget(Triple(triple), error);
  TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  // Standard mode does not fuse across operations of the model: a*b+c rounds
  // twice unless the IR has an fma or the contract flag.
  options.AllowFPOpFusion = FPOpFusion::Standard;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      Triple(triple), cpu, features, options, Reloc::PIC_, CodeModel::Small,
      optLevel < 2 ? CodeGenOptLevel::Less : CodeGenOptLevel::Default));
}

} // namespace adze::cpu
