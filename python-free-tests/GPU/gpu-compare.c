/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * gpu-compare MODULE.so [GPU_MODULE.so] [--dim N] [--dims NAME=N,..] [--ones
 * NAME]
 * [--tolerance X] [--steps N]: runs a module on the CPU, and it or another one
 * on cuda:0, with the same random inputs, and compares. Exit status: 0 the
 * same, 1 not, 2 usage, 77 no GPU here. N stands for every dynamic dim (default
 * 4) without a size of its own in --dims; the input NAME is full of ones. X is
 * the error allowed, relative to an output's range, and the N of --steps that
 * of integers (default 0). */
#include <adze.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMax = 64, kMaxRank = 16 };

static double tolerance; /* 0: the default for its type */
static double steps;

/* Greatest errors, relative to an output's range. */
static double tolerance_of(DLDataType type) {
  if (tolerance > 0)
    return tolerance;
  return type.bits == 64 ? 1e-9 : type.bits == 32 ? 1e-4 : 2e-2;
}

static int check(adze_status status) {
  if (status == NULL)
    return 0;
  fprintf(stderr, "gpu-compare: %s\n", adze_status_message(status));
  adze_code code = adze_status_code(status);
  adze_status_free(status);
  return code == ADZE_UNSUPPORTED ? 77 : 1;
}

static uint32_t random_state = 12345;
static uint32_t next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

static uint16_t to_half(float v) {
  uint32_t x;
  memcpy(&x, &v, 4);
  uint32_t sign = x >> 16 & 0x8000, mantissa = x & 0x7fffff;
  int32_t exponent = (int32_t)(x >> 23 & 255) - 112;
  if (exponent <= 0)
    return (uint16_t)sign;
  return (uint16_t)(sign | (uint32_t)exponent << 10 | mantissa >> 13);
}

static double from_half(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25)
                          : ldexp(mantissa, -24));
}

static void fill(char *data, int64_t count, DLDataType type) {
  unsigned bytes = type.bits < 8 ? 1 : type.bits / 8;
  for (int64_t i = 0; i < count; ++i) {
    float value = (float)((int32_t)(next_random() % 2001) - 1000) / 1000;
    double wide = value;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint16_t half =
        type.code == kDLBfloat ? (uint16_t)(bits >> 16) : to_half(value);
    uint64_t integer =
        type.code == kDLBool ? next_random() & 1 : next_random() % 8;
    const void *from = &integer;
    if (type.code == kDLFloat || type.code == kDLBfloat)
      from = type.bits == 64   ? (void *)&wide
             : type.bits == 32 ? (void *)&value
                               : (void *)&half;
    memcpy(data + i * bytes, from, bytes);
  }
}

static double number_at(const char *data, int64_t i, DLDataType type) {
  if (type.code == kDLFloat && type.bits == 32)
    return ((const float *)data)[i];
  if (type.code == kDLFloat && type.bits == 64)
    return ((const double *)data)[i];
  if (type.code == kDLFloat)
    return from_half(((const uint16_t *)data)[i]);
  if (type.code == kDLBfloat) {
    uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
  uint64_t integer = 0;
  unsigned bytes = type.bits < 8 ? 1 : type.bits / 8;
  memcpy(&integer, data + i * bytes, bytes);
  if (type.code != kDLInt)
    return (double)integer;
  unsigned above = 64 - 8 * bytes;
  return (double)((int64_t)(integer << above) >> above);
}

static int64_t count_of(const DLTensor *t) {
  int64_t count = 1;
  for (int d = 0; d < t->ndim; ++d)
    count *= t->shape[d];
  return count;
}

/* Prints a line per output; returns 1 if it differs. */
static int compare(const char *name, const DLTensor *cpu, const DLTensor *gpu) {
  double range = 0, worst = 0;
  int64_t count = count_of(cpu), misplaced = 0;
  for (int64_t i = 0; i < count; ++i) {
    double a = number_at((char *)cpu->data + cpu->byte_offset, i, cpu->dtype);
    double b = number_at((char *)gpu->data, i, cpu->dtype);
    if (isnan(a) != isnan(b) || (isinf(a) || isinf(b) ? a != b : 0))
      ++misplaced;
    if (!isfinite(a) || !isfinite(b))
      continue;
    range = fmax(range, fabs(a));
    worst = fmax(worst, fabs(a - b));
  }
  int exact = cpu->dtype.code != kDLFloat && cpu->dtype.code != kDLBfloat;
  double error = range > 0 ? worst / range : worst;
  int bad =
      misplaced || (exact ? worst > steps : error > tolerance_of(cpu->dtype));
  printf("%s: %lld elements, error %.2g of the range%s\n", name,
         (long long)count, error, bad ? " DIFFERS" : "");
  return bad;
}

static void describe(DLTensor *t, int64_t *shape, const adze_value_info *info) {
  memset(t, 0, sizeof *t);
  t->device.device_type = kDLCPU;
  t->ndim = info->rank;
  t->dtype = info->dtype;
  t->shape = shape;
}

/* Returns the size that `given` has for the symbol of dynamic dim `d`: a part
   NAME=N of a list. */
static int64_t size_of(const adze_value_info *info, int d, const char *given,
                       int64_t otherwise) {
  size_t length = strlen(info->symbols[d]);
  for (const char *at = given; length && at; at = strchr(at, ',')) {
    at += at != given;
    if (!strncmp(at, info->symbols[d], length) && at[length] == '=')
      return atoll(at + length + 1);
  }
  return otherwise;
}

int main(int argc, char **argv) {
  int64_t dim = 4;
  const char *given = NULL, *ones = "";
  const char *files[2] = {NULL, NULL};
  int num_files = 0, usage = 0;
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], "--dim") && i + 1 < argc)
      dim = atoll(argv[++i]);
    else if (!strcmp(argv[i], "--dims") && i + 1 < argc)
      given = argv[++i];
    else if (!strcmp(argv[i], "--ones") && i + 1 < argc)
      ones = argv[++i];
    else if (!strcmp(argv[i], "--tolerance") && i + 1 < argc)
      tolerance = atof(argv[++i]);
    else if (!strcmp(argv[i], "--steps") && i + 1 < argc)
      steps = atof(argv[++i]);
    else if (num_files < 2 && argv[i][0] != '-')
      files[num_files++] = argv[i];
    else
      usage = 1;
  if (usage || !num_files) {
    fprintf(stderr, "usage: gpu-compare MODULE.so [GPU_MODULE.so] [--dim N] "
                    "[--dims NAME=N,..] [--ones NAME] [--tolerance X] "
                    "[--steps N]\n");
    return 2;
  }
  adze_module *module, *other = NULL;
  adze_context *cpu, *gpu;
  int status = check(adze_module_open(files[0], NULL, &module));
  if (!status && files[1])
    status = check(adze_module_open(files[1], NULL, &other));
  if (!status)
    status = check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &cpu));
  if (status)
    return 1;
  if (check(adze_context_create(other ? other : module, (DLDevice){kDLCUDA, 0},
                                &gpu)))
    return 77;
  int inputs = adze_module_num_inputs(module),
      outputs = adze_module_num_outputs(module);
  if (inputs > kMax || outputs > kMax)
    return 2;
  static DLTensor in[kMax], out[kMax];
  static int64_t in_shape[kMax][kMaxRank], out_shape[kMax][kMaxRank];
  const DLTensor *in_list[kMax];
  DLTensor *out_list[kMax];
  DLManagedTensorVersioned *want[kMax];
  for (int i = 0; i < inputs; ++i) {
    const adze_value_info *info;
    if (check(adze_module_input(module, i, &info)))
      return 1;
    describe(&in[i], in_shape[i], info);
    for (int d = 0; d < info->rank; ++d)
      in_shape[i][d] =
          info->dims[d] < 0 ? size_of(info, d, given, dim) : info->dims[d];
    size_t bytes = (size_t)count_of(&in[i]) * ((info->dtype.bits + 7) / 8);
    in[i].data = calloc(bytes + 1, 1);
    fill(in[i].data, count_of(&in[i]), info->dtype);
    if (!strcmp(info->name, ones) && info->dtype.bits == 64)
      for (int64_t k = 0; k < count_of(&in[i]); ++k)
        ((int64_t *)in[i].data)[k] = 1;
    in_list[i] = &in[i];
  }
  if (check(adze_run_alloc(cpu, in_list, inputs, want, outputs)))
    return 1;
  for (int i = 0; i < outputs; ++i) {
    const adze_value_info *info;
    if (check(adze_module_output(module, i, &info)))
      return 1;
    describe(&out[i], out_shape[i], info);
    memcpy(out_shape[i], want[i]->dl_tensor.shape,
           sizeof(int64_t) * (size_t)info->rank);
    out[i].data =
        calloc((size_t)count_of(&out[i]) * ((info->dtype.bits + 7) / 8) + 1, 1);
    out_list[i] = &out[i];
  }
  int bad = 0;
  /* Runs twice, as the second run may be a replayed graph. */
  for (int run = 0; run < 2 && !bad; ++run) {
    if (check(adze_run(gpu, in_list, inputs, out_list, outputs)))
      return 1;
    for (int i = 0; i < outputs; ++i) {
      const adze_value_info *info;
      if (check(adze_module_output(module, i, &info)))
        return 1;
      bad |= compare(info->name, &want[i]->dl_tensor, &out[i]);
    }
  }
  for (int i = 0; i < outputs; ++i)
    want[i]->deleter(want[i]);
  adze_context_release(gpu);
  adze_context_release(cpu);
  if (other)
    adze_module_release(other);
  adze_module_release(module);
  return bad;
}
