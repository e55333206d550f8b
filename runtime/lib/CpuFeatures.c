/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Detects the instructions that the CPU has and the system enables.
 * */
#include "Runtime.h"

#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  uint64_t bit;
  const char *name;
} feature_names[] = {
    {ADZE_X86_SSE42, "sse4.2"},
    {ADZE_X86_AVX, "avx"},
    {ADZE_X86_AVX2, "avx2"},
    {ADZE_X86_FMA, "fma"},
    {ADZE_X86_F16C, "f16c"},
    {ADZE_X86_BMI2, "bmi2"},
    {ADZE_X86_AVX512F, "avx512f"},
    {ADZE_X86_AVX512BW, "avx512bw"},
    {ADZE_X86_AVX512CD, "avx512cd"},
    {ADZE_X86_AVX512DQ, "avx512dq"},
    {ADZE_X86_AVX512VL, "avx512vl"},
    {ADZE_X86_AVX512VNNI, "avx512vnni"},
    {ADZE_X86_AVX512BF16, "avx512bf16"},
    {ADZE_X86_AVX512FP16, "avx512fp16"},
    {ADZE_X86_AMX_TILE, "amx-tile"},
    {ADZE_X86_AMX_INT8, "amx-int8"},
    {ADZE_X86_AMX_BF16, "amx-bf16"},
    {ADZE_X86_POPCNT, "popcnt"},
    {ADZE_X86_LZCNT, "lzcnt"},
    {ADZE_X86_BMI, "bmi"},
    {ADZE_X86_MOVBE, "movbe"},
    {ADZE_X86_GFNI, "gfni"},
    {ADZE_X86_AVXVNNI, "avxvnni"},
    {ADZE_X86_AVX512VBMI, "avx512vbmi"},
    {ADZE_X86_AVX512VBMI2, "avx512vbmi2"},
    {ADZE_X86_AVX512IFMA, "avx512ifma"},
    {ADZE_X86_AVX512BITALG, "avx512bitalg"},
    {ADZE_X86_AVX512VPOPCNTDQ, "avx512vpopcntdq"},
};

void rt_cpu_feature_names(uint64_t features, rt_text *text) {
  const char *separator = "";
  for (size_t i = 0; i < sizeof(feature_names) / sizeof(*feature_names); ++i) {
    if (!(features & feature_names[i].bit))
      continue;
    rt_text_add(text, "%s%s", separator, feature_names[i].name);
    features &= ~feature_names[i].bit;
    separator = ", ";
  }
  if (features)
    rt_text_add(text, "%sbits 0x%llx unknown to this run time", separator,
                (unsigned long long)features);
}

#if defined(__x86_64__)
#include <cpuid.h>

/* Returns the processor state that the system saves on context switches
   (XCR0). */
static uint64_t enabled_state(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static void add(uint64_t *features, uint64_t bit, uint32_t reg, int position) {
  if (reg >> position & 1)
    *features |= bit;
}

static void add_avx512(uint64_t *features, uint32_t ebx, uint32_t ecx,
                       uint32_t edx, uint32_t eax1) {
  add(features, ADZE_X86_AVX512F, ebx, 16);
  add(features, ADZE_X86_AVX512DQ, ebx, 17);
  add(features, ADZE_X86_AVX512CD, ebx, 28);
  add(features, ADZE_X86_AVX512BW, ebx, 30);
  add(features, ADZE_X86_AVX512VL, ebx, 31);
  add(features, ADZE_X86_AVX512VBMI, ecx, 1);
  add(features, ADZE_X86_AVX512VBMI2, ecx, 6);
  add(features, ADZE_X86_AVX512VNNI, ecx, 11);
  add(features, ADZE_X86_AVX512BITALG, ecx, 12);
  add(features, ADZE_X86_AVX512VPOPCNTDQ, ecx, 14);
  add(features, ADZE_X86_AVX512IFMA, ebx, 21);
  add(features, ADZE_X86_AVX512FP16, edx, 23);
  add(features, ADZE_X86_AVX512BF16, eax1, 5);
}

uint64_t rt_cpu_features(void) {
  uint32_t eax, ebx, ecx, edx;
  uint64_t features = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    return 0;
  uint32_t leaf1 = ecx;
  add(&features, ADZE_X86_SSE42, leaf1, 20);
  add(&features, ADZE_X86_MOVBE, leaf1, 22);
  add(&features, ADZE_X86_POPCNT, leaf1, 23);
  uint64_t state = (leaf1 >> 27 & 1) ? enabled_state() : 0;
  bool avx = (state & 0x6) == 0x6;
  bool avx512 = (state & 0xe6) == 0xe6;
  bool amx = (state & 0x60000) == 0x60000;
  if (avx) {
    add(&features, ADZE_X86_AVX, leaf1, 28);
    add(&features, ADZE_X86_FMA, leaf1, 12);
    add(&features, ADZE_X86_F16C, leaf1, 29);
  }
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    return features;
  uint32_t subleaves = eax, eax1 = 0, ignored;
  if (subleaves >= 1)
    __get_cpuid_count(7, 1, &eax1, &ignored, &ignored, &ignored);
  add(&features, ADZE_X86_BMI, ebx, 3);
  add(&features, ADZE_X86_BMI2, ebx, 8);
  add(&features, ADZE_X86_GFNI, ecx, 8);
  if (avx) {
    add(&features, ADZE_X86_AVX2, ebx, 5);
    add(&features, ADZE_X86_AVXVNNI, eax1, 4);
  }
  if (avx512)
    add_avx512(&features, ebx, ecx, edx, eax1);
  if (amx) {
    add(&features, ADZE_X86_AMX_BF16, edx, 22);
    add(&features, ADZE_X86_AMX_TILE, edx, 24);
    add(&features, ADZE_X86_AMX_INT8, edx, 25);
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    add(&features, ADZE_X86_LZCNT, ecx, 5);
  return features;
}

bool rt_cpu_request_amx(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}

#else

uint64_t rt_cpu_features(void) { return 0; }
bool rt_cpu_request_amx(void) { return false; }

#endif
