/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * gpu-product MODULE.so [--lhs-transposed] [--rhs-transposed] [--gelu] [--relu]
 *     [--attention] [--causal] [--dim N]
 * runs a module on cuda:0 whose inputs are the operands of a product of
 * matrices, and a row that is added to each of its rows if there are three, and
 * compares with the sums in f64. With --attention the inputs are query, key and
 * value, [batch, heads, length, depth] each; scores are divided by 16, and with
 * --causal a query sees no later key. Exit status: 0 the same, 1 not, 2 usage,
 * 77 no GPU here. N stands for a dynamic dim (default 200). */
#include <adze.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxRank = 8 };

static bool lhs_transposed, rhs_transposed, gelu, relu, attention, causal;
static int64_t dynamic_size = 200;

static int check(adze_status status) {
  if (status == NULL)
    return 0;
  fprintf(stderr, "gpu-product: %s\n", adze_status_message(status));
  adze_code code = adze_status_code(status);
  adze_status_free(status);
  return code == ADZE_UNSUPPORTED ? 77 : 1;
}

/* ---- Elements ------------------------------------------------------------ */

static double to_number(const void *data, int64_t i, DLDataType type) {
  if (type.bits == 32) {
    float value;
    memcpy(&value, (const char *)data + i * 4, 4);
    return value;
  }
  uint16_t h;
  memcpy(&h, (const char *)data + i * 2, 2);
  if (type.code == kDLBfloat) {
    uint32_t bits = (uint32_t)h << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25)
                          : ldexp(mantissa, -24));
}

/* Multiples of 1/64 in [-1, 1], which both 16-bit types represent exactly. */
static void fill(void *data, int64_t count, DLDataType type) {
  static uint32_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    int units = (int)(state >> 8) % 129 - 64;
    float value = (float)units / 64;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (type.bits == 32) {
      memcpy((char *)data + i * 4, &bits, 4);
      continue;
    }
    uint16_t half = (uint16_t)(bits >> 16);
    if (type.code == kDLFloat)
      half = (uint16_t)((bits >> 16 & 0x8000) |
                        (units ? (((bits >> 23 & 255) - 112) << 10 |
                                  (bits >> 13 & 1023))
                               : 0));
    memcpy((char *)data + i * 2, &half, 2);
  }
}

/* ---- Tensors ------------------------------------------------------------- */

typedef struct {
  DLTensor tensor;
  int64_t shape[kMaxRank];
  int64_t count;
} operand;

static void make(operand *o, const adze_value_info *info) {
  memset(o, 0, sizeof(*o));
  o->tensor.device.device_type = kDLCPU;
  o->tensor.ndim = info->rank;
  o->tensor.dtype = info->dtype;
  o->tensor.shape = o->shape;
  o->count = 1;
  for (int d = 0; d < info->rank; ++d) {
    o->shape[d] = info->dims[d] < 0 ? dynamic_size : info->dims[d];
    o->count *= o->shape[d];
  }
  /* All bits set are a NaN, so that unwritten elements are detected. */
  size_t bytes = (size_t)o->count * (info->dtype.bits / 8u);
  o->tensor.data = malloc(bytes);
  if (!o->tensor.data)
    exit(1);
  memset(o->tensor.data, 0xff, bytes);
}

/* Returns the elements as numbers. */
static double *to_numbers(const operand *o) {
  double *numbers = malloc((size_t)o->count * sizeof(double));
  if (!numbers)
    exit(1);
  for (int64_t i = 0; i < o->count; ++i)
    numbers[i] = to_number(o->tensor.data, i, o->tensor.dtype);
  return numbers;
}

/* The expected output. */
static double *make_reference(const operand *in, int inputs, const operand *y) {
  int rank = y->tensor.ndim, last = in[0].tensor.ndim - 1;
  int64_t m = y->shape[rank - 2], n = y->shape[rank - 1],
          k = in[0].shape[lhs_transposed ? last - 1 : last];
  double *x = to_numbers(&in[0]), *w = to_numbers(&in[1]),
         *row = inputs > 2 ? to_numbers(&in[2]) : NULL,
         *want = calloc((size_t)y->count, sizeof(double));
  if (!want)
    exit(1);
  int64_t x_row = lhs_transposed ? 1 : k, x_step = lhs_transposed ? m : 1,
          w_row = rhs_transposed ? 1 : n, w_step = rhs_transposed ? k : 1;
  for (int64_t line = 0; line < y->count / n; ++line) {
    int64_t matrix = line / m;
    const double *a = x + matrix * m * k + line % m * x_row;
    const double *b = w + (in[1].tensor.ndim > 2 ? matrix * k * n : 0);
    double *to = want + line * n;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        to[j] += a[p * x_step] * b[p * w_row + j * w_step];
    for (int64_t j = 0; j < n; ++j) {
      if (row)
        to[j] += row[j];
      if (relu)
        to[j] = fmax(to[j], 0);
      if (gelu)
        to[j] = to[j] / 2 * (1 + erf(to[j] / sqrt(2)));
    }
  }
  free(x);
  free(w);
  free(row);
  return want;
}

/* Computes softmax(q k^T / 16) v for each head. */
static double *make_attention(const operand *in, const operand *y) {
  int64_t length = y->shape[2], depth = y->shape[3];
  double *q = to_numbers(&in[0]), *k = to_numbers(&in[1]),
         *v = to_numbers(&in[2]),
         *want = calloc((size_t)y->count, sizeof(double)),
         *scores = malloc((size_t)length * sizeof(double));
  if (!want || !scores)
    exit(1);
  for (int64_t row = 0; row < y->count / depth; ++row) {
    int64_t head = row / length * length * depth,
            seen = causal ? row % length + 1 : length;
    double total = 0;
    for (int64_t j = 0; j < seen; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < depth; ++p)
        sum += q[row * depth + p] * k[head + j * depth + p];
      total += scores[j] = exp(sum / 16);
    }
    for (int64_t j = 0; j < seen; ++j)
      for (int64_t p = 0; p < depth; ++p)
        want[row * depth + p] += scores[j] / total * v[head + j * depth + p];
  }
  free(q);
  free(k);
  free(v);
  free(scores);
  return want;
}

static int compare(const double *want, const operand *y, DLDataType type) {
  double difference = 0, size = 0;
  for (int64_t e = 0; e < y->count; ++e) {
    double got = to_number(y->tensor.data, e, y->tensor.dtype);
    difference += (got - want[e]) * (got - want[e]);
    size += want[e] * want[e];
  }
  /* A product of narrow operands is rounded to their type. */
  double error = sqrt(difference / size), limit = type.bits == 32 ? 1e-6
                                                  : type.code == kDLBfloat
                                                      ? 5e-3
                                                      : 8e-4;
  bool good = error <= limit; /* false for NaN */
  printf("error %.2g%s\n", error, good ? "" : " DIFFERS");
  return !good;
}

static int run(const char *path) {
  adze_module *module;
  adze_context *context;
  if (check(adze_module_open(path, NULL, &module)))
    return 1;
  int status =
      check(adze_context_create(module, (DLDevice){kDLCUDA, 0}, &context));
  if (status)
    return status;
  operand in[3], out;
  const DLTensor *ins[3];
  DLTensor *outs[] = {&out.tensor};
  int inputs = adze_module_num_inputs(module);
  if (inputs < 2 || inputs > 3)
    return 2;
  const adze_value_info *info;
  for (int i = 0; i < inputs; ++i) {
    if (check(adze_module_input(module, i, &info)))
      return 1;
    make(&in[i], info);
    fill(in[i].tensor.data, in[i].count, info->dtype);
    ins[i] = &in[i].tensor;
  }
  if (check(adze_module_output(module, 0, &info)))
    return 1;
  make(&out, info);
  double *want =
      attention ? make_attention(in, &out) : make_reference(in, inputs, &out);
  /* The second and third run replay a graph. */
  for (int i = 0; i < 3 && !status; ++i) {
    memset(out.tensor.data, 0xff, (size_t)out.count * (info->dtype.bits / 8u));
    status = check(adze_run(context, ins, inputs, outs, 1));
    if (!status)
      status = compare(want, &out, in[0].tensor.dtype);
  }
  adze_context_release(context);
  adze_module_release(module);
  for (int i = 0; i < inputs; ++i)
    free(in[i].tensor.data);
  free(out.tensor.data);
  free(want);
  return status;
}

int main(int argc, char **argv) {
  for (int i = 2; i < argc; ++i) {
    lhs_transposed |= !strcmp(argv[i], "--lhs-transposed");
    rhs_transposed |= !strcmp(argv[i], "--rhs-transposed");
    gelu |= !strcmp(argv[i], "--gelu");
    relu |= !strcmp(argv[i], "--relu");
    attention |= !strcmp(argv[i], "--attention");
    causal |= !strcmp(argv[i], "--causal");
    if (!strcmp(argv[i], "--dim") && i + 1 < argc)
      dynamic_size = atoll(argv[i + 1]);
  }
  if (argc < 2) {
    fprintf(stderr, "usage: gpu-product MODULE.so [--lhs-transposed] "
                    "[--rhs-transposed] [--gelu] [--relu] [--attention] "
                    "[--causal] [--dim N]\n");
    return 2;
  }
  return run(argv[1]);
}
