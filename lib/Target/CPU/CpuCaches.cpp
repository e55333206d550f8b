// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The caches of a CPU: asked of this one, or known by name.
#include "Target/CPU/CpuTarget.h"
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

using namespace llvm;

namespace adze::cpu {

//===--- By name ----------------------------------------------------------===//

namespace {
struct NamedCaches {
  StringLiteral prefix; // of LLVM's names
  int64_t l2, l3;       // KiB, MiB
  bool storesApart = false, halfLoads = false;
};
} // namespace

/// AMD's cores have their last level near by, those of servers by Intel across
/// a mesh (measured on Zen 4 and Emerald Rapids).
static int64_t getFlopsAByte(StringRef cpu) {
  return cpu.starts_with("znver") ? 2 : 8;
}

/// The first prefix that fits. Third levels are those of common models.
static constexpr NamedCaches known[] = {
    {"znver1", 512, 8},           {"znver2", 512, 16},
    {"znver3", 512, 32},          {"znver4", 1024, 32, true, true},
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

CacheSizes getCaches(StringRef cpu) {
  for (const NamedCaches &entry : known)
    if (cpu.starts_with(entry.prefix))
      return {entry.l2 << 10, entry.l3 << 20, entry.storesApart,
              entry.halfLoads, getFlopsAByte(cpu)};
  return {};
}

//===--- Of this machine --------------------------------------------------===//

/// What leaf 4, or AMD's in the same form, says of a level; 0: nothing.
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

CacheSizes getHostCaches(StringRef cpu) {
  CacheSizes caches = getCaches(cpu);
  auto take = [](int64_t &size, int64_t found) {
    if (found > 0)
      size = found;
  };
#ifdef __x86_64__
  constexpr unsigned intel = 4, amd = 0x8000001D;
  for (unsigned leaf : {amd, intel}) {
    take(caches.l2, askLevel(leaf, 2));
    take(caches.l3, askLevel(leaf, 3));
  }
#else
  take(caches.l2, sysconf(_SC_LEVEL2_CACHE_SIZE));
  take(caches.l3, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  return caches;
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

Expected<CacheSizes> parseCaches(StringRef text) {
  StringRef sizes = text;
  bool halfLoads = sizes.consume_back(",halves");
  bool storesApart = sizes.consume_back(",apart");
  auto [second, third] = sizes.split(',');
  std::optional<int64_t> l2 = parseSize(second), l3 = parseSize(third);
  constexpr int64_t least = 64 << 10; // blocks must have something to share
  if (!l2 || !l3 || *l2 < least || *l3 < *l2)
    return createStringError("expected the sizes of the second and third "
                             "level as in 1M,32M, but got '" +
                             text + "'");
  CacheSizes caches;
  caches.l2 = *l2;
  caches.l3 = *l3;
  caches.storesApart = storesApart;
  caches.halfLoads = halfLoads;
  return caches;
}

} // namespace adze::cpu
