// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds target attributes of CPUs from a CPU's name and from the cache sizes
// of the build machine or of the command line.
#include "Target/CPU/CpuTarget.h"
#include "adze_module.h"
#include "mlir/IR/Builders.h"
#include "llvm/BinaryFormat/ELF.h"
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

using namespace llvm;
using adze::tile::CpuFeature;
using adze::tile::CpuTrait;

namespace adze::cpu {

namespace {
/// Cache sizes and performance traits of a CPU.
struct Facts {
  int64_t l2 = 1 << 20, l3 = 32 << 20; // bytes
  SmallVector<CpuTrait, 2> traits;
};
struct NamedFacts {
  StringLiteral prefix; // the prefix of LLVM's CPU names
  int64_t l2, l3;       // KiB, MiB
  bool isZen4 = false;
};
} // namespace

//===--- By name ----------------------------------------------------------===//

/// Returns how many FLOPs a core performs in the time of one byte from the
/// last-level cache. AMD's last-level caches are close to the cores; on Intel's
/// servers each access crosses a mesh (measured on Zen 4 and Emerald Rapids).
static int64_t getFlopsPerByte(StringRef cpu) {
  return cpu.starts_with("znver") ? 2 : 8;
}

/// The first entry whose prefix matches applies. The sizes of the last-level
/// caches are those of common models.
static constexpr NamedFacts known[] = {
    {"znver1", 512, 8},           {"znver2", 512, 16},
    {"znver3", 512, 32},          {"znver4", 1024, 32, true},
    {"znver", 1024, 32},          {"x86-64-v3", 512, 16},
    {"haswell", 256, 8},          {"broadwell", 256, 8},
    {"skylake-avx512", 1024, 22}, {"skylake", 256, 8},
    {"cascadelake", 1024, 32},    {"cooperlake", 1024, 32},
    {"icelake-client", 512, 8},   {"icelake-server", 1280, 32},
    {"tigerlake", 1280, 12},      {"rocketlake", 512, 16},
    {"alderlake", 1280, 24},      {"raptorlake", 2048, 32},
    {"meteorlake", 2048, 24},     {"sapphirerapids", 2048, 64},
    {"emeraldrapids", 2048, 128}, {"graniterapids", 2048, 128},
    {"neoverse-n1", 1024, 32},    {"neoverse-v1", 1024, 32},
    {"neoverse-n2", 1024, 32},    {"neoverse-v2", 2048, 64},
};

/// Zen 4 executes 512-bit instructions in two halves, and its non-temporal
/// stores stall loads (both measured).
static Facts getFacts(StringRef cpu) {
  for (const NamedFacts &entry : known)
    if (cpu.starts_with(entry.prefix)) {
      Facts facts{entry.l2 << 10, entry.l3 << 20, {}};
      if (entry.isZen4)
        facts.traits = {CpuTrait::split_vector_loads,
                        CpuTrait::nontemporal_stores_stall};
      return facts;
    }
  return {};
}

//===--- Of this machine --------------------------------------------------===//

/// Returns the size of a cache level by CPUID leaf 4, or by AMD's leaf of the
/// same layout; 0 if the leaf does not describe the level.
[[maybe_unused]] static int64_t askLevel(unsigned leaf, unsigned level) {
#ifdef __x86_64__
  constexpr unsigned most = 8, data = 1, unified = 3;
  for (unsigned i = 0, a, b, c, d; i < most; ++i) {
    if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d) || !(a & 31))
      break;
    unsigned kind = a & 31;
    if ((kind != data && kind != unified) || (a >> 5 & 7) != level)
      continue;
    return int64_t((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) *
           (int64_t(c) + 1);
  }
#endif
  return 0;
}

static void askHost(Facts &facts) {
  auto take = [](int64_t &size, int64_t found) {
    if (found > 0)
      size = found;
  };
#ifdef __x86_64__
  constexpr unsigned intel = 4, amd = 0x8000001D;
  for (unsigned leaf : {amd, intel}) {
    take(facts.l2, askLevel(leaf, 2));
    take(facts.l3, askLevel(leaf, 3));
  }
#else
  take(facts.l2, sysconf(_SC_LEVEL2_CACHE_SIZE));
  take(facts.l3, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
}

//===--- As said ----------------------------------------------------------===//

static std::optional<int64_t> parseSize(StringRef text) {
  int64_t size, unit = 1;
  if (text.consume_back("K"))
    unit = 1 << 10;
  else if (text.consume_back("M"))
    unit = 1 << 20;
  if (text.getAsInteger(10, size) || size < 1 || size > (1 << 30))
    return std::nullopt;
  return size * unit;
}

/// Parses "1M,32M[,TRAIT..]", and adds the traits to those of `facts`.
static Error parseCaches(StringRef text, Facts &facts) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  StringRef second = parts.front(), third = parts.size() > 1 ? parts[1] : "";
  std::optional<int64_t> l2 = parseSize(second), l3 = parseSize(third);
  if (!l2 || !l3 || *l2 < tile::CpuTargetAttr::kLeastL2Bytes || *l3 < *l2)
    return createStringError("expected the sizes of the second and third "
                             "level as in 1M,32M, but got '" +
                             text + "'");
  for (StringRef name : ArrayRef(parts).drop_front(2)) {
    std::optional<CpuTrait> trait = tile::symbolizeCpuTrait(name);
    if (!trait)
      return createStringError("expected the trait split_vector_loads or "
                               "nontemporal_stores_stall, but got '" +
                               name + "'");
    if (!is_contained(facts.traits, *trait))
      facts.traits.push_back(*trait);
  }
  facts.l2 = *l2;
  facts.l3 = *l3;
  return Error::success();
}

Error CpuTarget::checkCaches(StringRef caches) {
  Facts facts;
  return parseCaches(caches, facts);
}

/// Adds x86's multiplications of integers that sum the products of pairs.
static void addPairUnits(mlir::Builder &b, uint64_t features, int64_t bits,
                         SmallVectorImpl<tile::TargetUnitAttr> &units) {
  auto integer = [&](unsigned width, bool isSigned = true) {
    return b.getIntegerType(width, isSigned);
  };
  auto add = [&](StringRef name, unsigned width, bool isSigned,
                 StringRef intrinsic) {
    units.push_back(tile::TargetUnitAttr::get(
        b.getContext(), name, integer(width, isSigned), integer(width),
        integer(2 * width), {1, bits / (2 * width), 2}, /*group=*/2,
        intrinsic));
  };
  struct Level {
    int64_t bits;
    uint64_t feature; // of both intrinsics
    StringRef words, bytes;
  } levels[] = {{512, ADZE_X86_AVX512BW, "llvm.x86.avx512.pmaddw.d.512",
                 "llvm.x86.avx512.pmaddubs.w.512"},
                {256, ADZE_X86_AVX2, "llvm.x86.avx2.pmadd.wd",
                 "llvm.x86.avx2.pmadd.ub.sw"},
                {128, ADZE_X86_SSE42, "llvm.x86.sse2.pmadd.wd",
                 "llvm.x86.ssse3.pmadd.ub.sw.128"},
                {128, /*feature=*/0, "llvm.x86.sse2.pmadd.wd", ""}};
  const auto *level = llvm::find_if(levels, [&](const Level &level) {
    return level.bits == bits && (features & level.feature) == level.feature;
  });
  if (level == std::end(levels))
    return;
  add("pmaddwd", 16, /*isSigned=*/true, level->words);
  if (!level->bytes.empty())
    add("pmaddubsw", 8, /*isSigned=*/false, level->bytes);
}

//===--- The attribute ----------------------------------------------------===//

Expected<tile::CpuTargetAttr> CpuTarget::getAttr(mlir::MLIRContext &context,
                                                 StringRef caches) const {
  Facts facts = getFacts(cpu);
  if (isHost)
    askHost(facts);
  if (!caches.empty())
    if (Error error = parseCaches(caches, facts))
      return std::move(error);
  mlir::Builder builder(&context);
  SmallVector<tile::TargetUnitAttr> units;
  bool isX86 = elfMachine == ELF::EM_X86_64;
  if (isX86)
    addPairUnits(builder, moduleFeatures, vectorBits(), units);
  constexpr uint64_t vnni = ADZE_X86_AVX512VNNI | ADZE_X86_AVX512VL;
  constexpr unsigned wordBits = 32;
  if (isX86 &&
      ((moduleFeatures & vnni) == vnni || (moduleFeatures & ADZE_X86_AVXVNNI)))
    units.push_back(tile::TargetUnitAttr::get(
        &context, "vnni", builder.getIntegerType(8, false),
        builder.getIntegerType(8, true), builder.getIntegerType(32, true),
        {1, vectorBits() / wordBits, 4},
        /*group=*/4, "llvm.x86.avx512.vpdpbusd"));
  if (isX86 && (moduleFeatures & ADZE_X86_AVX512BF16))
    units.push_back(tile::TargetUnitAttr::get(
        &context, "bf16", builder.getBF16Type(), builder.getBF16Type(),
        builder.getF32Type(), {1, 16, 2}, /*group=*/2,
        "llvm.x86.avx512bf16.dpbf16ps"));
  auto addMatrixUnit = [&](uint64_t feature, StringRef name, mlir::Type lhs,
                           mlir::Type rhs, mlir::Type acc, int64_t depth) {
    constexpr int64_t rows = 16, columns = 16;
    if (!isX86 || !(moduleFeatures & ADZE_X86_AMX_TILE) ||
        !(moduleFeatures & feature))
      return;
    units.push_back(tile::TargetUnitAttr::get(
        &context, name, lhs, rhs, acc, {rows, columns, depth},
        /*group=*/wordBits / lhs.getIntOrFloatBitWidth(), /*intrinsic=*/""));
  };
  for (auto [isLeftSigned, isRightSigned] :
       {std::pair(false, true), {true, true}, {true, false}})
    addMatrixUnit(ADZE_X86_AMX_INT8, "amx-int8",
                  builder.getIntegerType(8, isLeftSigned),
                  builder.getIntegerType(8, isRightSigned),
                  builder.getIntegerType(32, true), /*depth=*/64);
  addMatrixUnit(ADZE_X86_AMX_BF16, "amx-bf16", builder.getBF16Type(),
                builder.getBF16Type(), builder.getF32Type(), /*depth=*/32);
  SmallVector<CpuFeature> features;
  if (isX86 && (moduleFeatures & (ADZE_X86_AVX512F | ADZE_X86_AVX2)))
    features.push_back(CpuFeature::lane_permute);
  if (isX86 && (moduleFeatures & ADZE_X86_AVX512VBMI))
    features.push_back(CpuFeature::byte_permute);
  return tile::CpuTargetAttr::get(&context, cpu, vectorBits() / 8,
                                  {facts.l2, facts.l3}, getFlopsPerByte(cpu),
                                  units, features, facts.traits);
}

} // namespace adze::cpu
