/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A module written by hand, for the tests of the run time:
 *   sum[b, l]  = x[b, l] + y[b, l] * weight
 *   total[b]   = the sum over l of sum[b, l], in order
 *   tiny[2]    = a subnormal number by a sum and by a product, to see FTZ
 * It refuses a batch of 13, by way of the host table's fail, totals above
 * 1e30, by a fault, and bits of x[0][0] that are an integer out of the range
 * [-0x70000000, 0x7f000000), by a check.
 */
#include "adze_module.h"

#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The test's stamp fills this in, as the packager does for real modules. */
__attribute__((section(".note.adze"), used, aligned(8))) static const struct {
  uint32_t name_size, desc_size, type;
  char name[12]; /* up to the next multiple of 8 */
  adze_module_note note;
} the_note = {sizeof(ADZE_NOTE_OWNER),
              sizeof(adze_module_note),
              ADZE_NOTE_TYPE,
              ADZE_NOTE_OWNER,
              {.size = sizeof(adze_module_note), .abi = ADZE_MODULE_ABI}};

__attribute__((section(".adze.weights"), used,
               aligned(4096))) static const float the_weights[1024] = {2.0f};

static const uint64_t the_checksums[] = {
    0xabc004368177ecceull}; /* XXH3, 64 bits */

enum { BATCH, LEN };

/* ---- Kernels ------------------------------------------------------------ */

static void add(void *const *ptrs, const int64_t *syms, int64_t begin,
                int64_t end, void *scratch, adze_fault *faults) {
  (void)scratch;
  (void)faults;
  const float *x = ptrs[0], *y = ptrs[1], *weight = ptrs[2];
  float *sum = ptrs[3];
  for (int64_t i = begin * syms[LEN]; i < end * syms[LEN]; ++i)
    sum[i] = x[i] + y[i] * weight[0];
}

/* Sums in scratch memory, which no other program may access meanwhile. */
static void rows(void *const *ptrs, const int64_t *syms, int64_t begin,
                 int64_t end, void *scratch, adze_fault *faults) {
  const float *sum = ptrs[0];
  float *total = ptrs[1];
  volatile float *partial = scratch;
  for (int64_t b = begin; b < end; ++b) {
    partial[0] = 0;
    for (int64_t l = 0; l < syms[LEN]; ++l)
      partial[0] = partial[0] + sum[b * syms[LEN] + l];
    total[b] = partial[0];
    if (total[b] > 1e30f) {
      __atomic_store_n(&faults[0].values[0], b, __ATOMIC_RELAXED);
      __atomic_store_n(&faults[0].values[1], syms[BATCH], __ATOMIC_RELAXED);
      __atomic_store_n(&faults[0].raised, 1, __ATOMIC_RELAXED);
    }
  }
}

static void tiny(void *const *ptrs, const int64_t *syms, int64_t begin,
                 int64_t end, void *scratch, adze_fault *faults) {
  (void)syms;
  (void)scratch;
  (void)faults;
  volatile float small = 1.5e-38f, half = 0.5f, subnormal = 1e-40f;
  float *out = ptrs[0];
  for (int64_t i = begin; i < end; ++i)
    out[i] = i % 2 ? small * half : subnormal + subnormal;
}

static int64_t batch(const int64_t *syms) { return syms[BATCH]; }
static int64_t tiny_programs(const int64_t *syms) {
  (void)syms;
  return 2;
}
static int64_t rows_scratch(const int64_t *syms) {
  (void)syms;
  return 4;
}
static int64_t tensor_bytes(const int64_t *syms) {
  return syms[BATCH] * syms[LEN] * 4;
}
static int64_t add_reads(const int64_t *syms) { return 2 * tensor_bytes(syms); }
static int64_t add_flops(const int64_t *syms) {
  return 2 * syms[BATCH] * syms[LEN];
}

static const adze_cpu_kernel cpu_kernels[] = {
    {add, batch, NULL},
    {rows, batch, rows_scratch},
    {tiny, tiny_programs, NULL},
};

static const adze_module_kernel kernels[] = {
    {"add", "Mul_0\nAdd \"1\"", 4, 1, add_flops, add_reads, tensor_bytes, NULL,
     0, 0},
    {"rows", "ReduceSum_2", 2, 1, NULL, NULL, NULL, NULL, 1, 1},
    {"tiny", "Tiny_3", 1, 1, NULL, NULL, NULL, NULL, 0, 0},
};

/* ---- The host program ---------------------------------------------------- */

static int32_t run(const adze_host_table *host, adze_exec *exec,
                   void *const *inputs, void *const *outputs, void *arena,
                   const void *weights, const int64_t *syms) {
  if (syms[BATCH] == 13)
    return host->fail(exec, "Reshape_7", "unlucky batch");
  int32_t checked = host->check_range(exec, 0, inputs[0], inputs[0], 4,
                                      -0x70000000, 0x7f000000);
  if (checked)
    return checked;
  void *add_ptrs[] = {inputs[0], inputs[1], (void *)(uintptr_t)weights, arena};
  int32_t code = host->launch(exec, 0, add_ptrs);
  if (code)
    return code;
  code = host->copy(exec, outputs[0], arena, (uint64_t)tensor_bytes(syms));
  if (code)
    return code;
  /* A batch of 5 uses memory from the host table. */
  uint64_t bytes = (uint64_t)syms[BATCH] * sizeof(float);
  void *totals = syms[BATCH] == 5 ? host->alloc(exec, bytes) : outputs[1];
  if (!totals)
    return host->fail(exec, "ReduceSum_2", "out of memory");
  void *rows_ptrs[] = {arena, totals};
  code = host->launch(exec, 1, rows_ptrs);
  if (code)
    return code;
  if (totals != outputs[1])
    code = host->copy(exec, outputs[1], totals, bytes);
  void *tiny_ptrs[] = {outputs[2]};
  return code ? code : host->launch(exec, 2, tiny_ptrs);
}

static void infer(const int64_t *syms, int64_t *dims) {
  dims[0] = syms[BATCH];
  dims[1] = syms[LEN];
  dims[2] = syms[BATCH];
  dims[3] = 2;
}

/* ---- The descriptor ------------------------------------------------------ */

static const adze_module_symbol symbols[] = {{"batch", 1, 64, 1},
                                             {"len", 4, -1, 4}};
static const adze_module_dim matrix[] = {{-1, BATCH, 0}, {-1, LEN, 0}};
static const adze_module_dim matrix_out[] = {{-1, -1, 0}, {-1, -1, 0}};
static const adze_module_dim pair[] = {{2, -1, 0}};
static const adze_module_value inputs[] = {{"x", 2, 32, 0, 2, matrix},
                                           {"y", 2, 32, 0, 2, matrix}};
static const adze_module_value outputs[] = {{"sum", 2, 32, 0, 2, matrix_out},
                                            {"total", 2, 32, 0, 1, matrix_out},
                                            {"tiny", 2, 32, 0, 1, pair}};
static const adze_cpu_variant variants[] = {
    {1ull << 62, "impossible", cpu_kernels}, {0, "baseline", cpu_kernels}};

static const char ptx[] = {
#embed "FakeKernels.ptx"
    , 0};
static const adze_device_kernel device_kernels[] = {
    {.entry = "add", .programs = batch, .block_threads = 64},
    {.entry = "rows", .programs = batch, .block_threads = 32},
    {.entry = "tiny", .programs = tiny_programs, .block_threads = 32}};
static const adze_device_kernel no_kernels[] = {
    {.programs = batch, .block_threads = 1},
    {.programs = batch, .block_threads = 1},
    {.programs = batch, .block_threads = 1}};
static const adze_device_kernel some_kernels[] = {
    {.entry = "add", .programs = batch, .block_threads = 64},
    {.programs = batch, .block_threads = 1},
    {.entry = "tiny", .programs = tiny_programs, .block_threads = 32}};
static const adze_device_image images[] = {
    {"cuda:sm_30a", 30, ADZE_IMAGE_ARCH_EXACT, "", 0, no_kernels},
    {"cuda:sm_72", 72, ADZE_IMAGE_ARCH_EXACT, ptx, sizeof(ptx), some_kernels},
    {"cuda:sm_70", 70, ADZE_IMAGE_PTX, ptx, sizeof(ptx), device_kernels}};

static const adze_module_row_sizes row_sizes = ADZE_MODULE_ROW_SIZES;
static const adze_module_fault faults[] = {
    {"Check_4", "expected bits in [{1}, {2}), but got {0}"},
    {"ReduceSum_2", "the total of row {0} of {1} {is} large {3}"}};

static const adze_module_desc desc = {
    .size = sizeof(adze_module_desc),
    .abi = ADZE_MODULE_ABI,
    .producer = "by hand",
    .build_id = "0123",
    .model_name = "fake",
    .num_inputs = 2,
    .num_outputs = 3,
    .num_symbols = 2,
    .num_kernels = 3,
    .inputs = inputs,
    .outputs = outputs,
    .symbols = symbols,
    .kernels = kernels,
    .num_variants = 2,
    .num_images = 3,
    .variants = variants,
    .images = images,
    .weights = the_weights,
    .weights_size = sizeof(the_weights),
    .run = run,
    .infer = infer,
    .arena_bytes = tensor_bytes,
    .arena_lower_bound = tensor_bytes,
    .row_sizes = &row_sizes,
    .faults = faults,
    .num_faults = 2,
    .weights_checksums = the_checksums,
    .structure_id = "4567",
};

__attribute__((visibility("default"))) const adze_module_desc *
adze_module_query(uint32_t abi) {
  return abi == ADZE_MODULE_ABI ? &desc : NULL;
}
