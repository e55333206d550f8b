/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Seeded inputs of a module, for programs that check guarantees of modules.
 */
#ifndef ADZE_TESTS_MODELS_SEEDED_INPUTS_H
#define ADZE_TESTS_MODELS_SEEDED_INPUTS_H

#include "adze.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_VALUES = 16 };

static DLTensor inputs[MAX_VALUES];
static int32_t num_inputs, num_outputs;

static void check(adze_status status) {
  if (adze_status_code(status) == ADZE_OK)
    return;
  fprintf(stderr, "%s\n", adze_status_message(status));
  exit(1);
}

static uint64_t next_random(uint64_t *state) {
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
    uint64_t r = next_random(&seed);
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

/* Inputs of the module; every dynamic dim is `dynamic_dim`. */
static void make_inputs(adze_module *module, int64_t dynamic_dim) {
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

static void free_inputs(void) {
  for (int32_t i = 0; i < num_inputs; ++i)
    free(inputs[i].data), free(inputs[i].shape);
}

static void run(adze_context *context, DLManagedTensorVersioned **outputs) {
  const DLTensor *in[MAX_VALUES];
  for (int32_t i = 0; i < num_inputs; ++i)
    in[i] = &inputs[i];
  check(adze_run_alloc(context, in, num_inputs, outputs, num_outputs));
}

#endif
