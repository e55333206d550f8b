/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Holds a module to "the same bits, always":   same-bits MODULE.so [DIM]
 * It is run on seeded inputs as it comes; with the caller's flush-to-zero,
 * denormals-are-zero and rounding bits set, which must be there again after the
 * run; and in four contexts on four threads at once. DIM: every dynamic dim.
 */
#include "adze.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { MAX_VALUES = 16, THREADS = 4 };

static int64_t dynamic_dim = 2;
static DLTensor inputs[MAX_VALUES];
static int32_t num_inputs, num_outputs;

static void check(adze_status status) {
  if (adze_status_code(status) == ADZE_OK)
    return;
  fprintf(stderr, "same-bits: %s\n", adze_status_message(status));
  exit(1);
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static size_t count(const DLTensor *tensor) {
  size_t n = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i)
    n *= (size_t)tensor->shape[i];
  return n;
}

static size_t bytes(const DLTensor *tensor) {
  return count(tensor) * ((tensor->dtype.bits + 7u) / 8);
}

/* Floats in (-2, 2), every 16th a denormal; integers 0 or 1. */
static void fill(DLTensor *tensor, uint64_t seed) {
  size_t n = count(tensor);
  for (size_t i = 0; i < n; ++i) {
    uint64_t r = next(&seed);
    if (tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32) {
      float value = (float)(int64_t)(r % 65536) / 16384.0f - 2.0f;
      ((float *)tensor->data)[i] = r % 16 ? value : value * 1e-39f;
    } else if (tensor->dtype.bits == 64) {
      ((int64_t *)tensor->data)[i] = (int64_t)(r & 1);
    } else {
      ((unsigned char *)tensor->data)[i * (tensor->dtype.bits / 8)] = r & 1;
    }
  }
}

static void make_inputs(adze_module *module) {
  num_inputs = adze_module_num_inputs(module);
  num_outputs = adze_module_num_outputs(module);
  if (num_inputs > MAX_VALUES || num_outputs > MAX_VALUES)
    exit(1);
  for (int32_t i = 0; i < num_inputs; ++i) {
    const adze_value_info *info;
    check(adze_module_input(module, i, &info));
    int64_t *shape = calloc((size_t)info->rank + 1, sizeof *shape);
    for (int32_t d = 0; d < info->rank; ++d)
      shape[d] = info->dims[d] < 0 ? dynamic_dim : info->dims[d];
    inputs[i] =
        (DLTensor){NULL, {kDLCPU, 0}, info->rank, info->dtype, shape, NULL, 0};
    inputs[i].data = calloc(bytes(&inputs[i]) + 1, 1);
    fill(&inputs[i], (uint64_t)i + 1);
  }
}

static void run(adze_context *context, DLManagedTensorVersioned **outputs) {
  const DLTensor *in[MAX_VALUES];
  for (int32_t i = 0; i < num_inputs; ++i)
    in[i] = &inputs[i];
  check(adze_run_alloc(context, in, num_inputs, outputs, num_outputs));
}

static int same(DLManagedTensorVersioned **a, DLManagedTensorVersioned **b) {
  for (int32_t i = 0; i < num_outputs; ++i)
    if (bytes(&a[i]->dl_tensor) != bytes(&b[i]->dl_tensor) ||
        memcmp(a[i]->dl_tensor.data, b[i]->dl_tensor.data,
               bytes(&a[i]->dl_tensor)))
      return 0;
  return 1;
}

typedef struct {
  adze_context *context;
  DLManagedTensorVersioned *outputs[MAX_VALUES];
} worker;

static void *work(void *argument) {
  worker *self = argument;
  run(self->context, self->outputs);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: same-bits MODULE.so [DIM]\n");
    return 2;
  }
  if (argc > 2)
    dynamic_dim = strtoll(argv[2], NULL, 10);
  adze_module *module;
  adze_context *context;
  check(adze_module_open(argv[1], NULL, &module));
  check(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  make_inputs(module);

  DLManagedTensorVersioned *plain[MAX_VALUES], *changed[MAX_VALUES];
  run(context, plain);

  unsigned before = _mm_getcsr();
  unsigned odd = (before | 0x8040u) & ~0x6000u; /* FTZ, DAZ */
  odd |= 0x4000u;                               /* round up */
  _mm_setcsr(odd);
  run(context, changed);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  if ((after & 0xffc0u) != (odd & 0xffc0u)) {
    fprintf(stderr,
            "same-bits: expected the caller's MXCSR 0x%x, but got 0x%x\n", odd,
            after);
    return 1;
  }
  if (!same(plain, changed)) {
    fprintf(stderr, "same-bits: the caller's FTZ/DAZ bits change the result\n");
    return 1;
  }

  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    check(adze_context_clone(context, &workers[i].context));
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, &workers[i]))
      return 1;
  int equal = 1;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    equal &= same(plain, workers[i].outputs);
  }
  if (!equal) {
    fprintf(stderr, "same-bits: contexts that run at once differ\n");
    return 1;
  }

  for (int32_t k = 0; k < num_outputs; ++k) {
    plain[k]->deleter(plain[k]);
    changed[k]->deleter(changed[k]);
    for (int i = 0; i < THREADS; ++i)
      workers[i].outputs[k]->deleter(workers[i].outputs[k]);
  }
  for (int i = 0; i < THREADS; ++i)
    adze_context_release(workers[i].context);
  adze_context_release(context);
  adze_module_release(module);
  for (int32_t i = 0; i < num_inputs; ++i)
    free(inputs[i].data), free(inputs[i].shape);
  printf("same bits: plain, with FTZ/DAZ and another rounding, %d contexts at "
         "once\n",
         THREADS);
  return 0;
}
