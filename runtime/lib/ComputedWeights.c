/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Weights that are larger than what they are computed from, such as filters in
 * Winograd's form: the module has the smaller ones.
 */
#include "Numbers.h"

#include <string.h>

/* Adjacent outputs that are computed together. */
enum { BLOCK = 16 };
typedef float block __attribute__((vector_size(BLOCK * sizeof(float))));

typedef struct {
  const adze_module_transform *row;
  const char *filter;
  const float *matrix;
  char *result;
} transform;

/* Reads a window of each of `count` outputs, `step` elements apart, so that
 * element k of output o is at [k][o]. */
static void read_windows(const adze_module_transform *row, uint64_t first,
                         uint64_t count, const char *filter, block *windows) {
  uint64_t step = row->inputs * row->window;
  for (uint64_t o = 0; o < count; ++o, first += step) {
    const float *floats = (const float *)filter + first;
    const uint16_t *halves = (const uint16_t *)filter + first;
    if (row->dtype_bits == 32)
      for (uint64_t k = 0; k < row->window; ++k)
        windows[k][o] = floats[k];
    else if (row->dtype_code == kDLBfloat)
      for (uint64_t k = 0; k < row->window; ++k)
        windows[k][o] = rt_from_bfloat(halves[k]);
    else
      for (uint64_t k = 0; k < row->window; ++k)
        windows[k][o] = rt_from_half(halves[k]);
  }
}

/* Writes values to elements that are `group` elements apart. */
static void write_values(const adze_module_transform *row, char *result,
                         uint64_t first, uint64_t count, const block *values) {
  float *floats = (float *)result + first;
  uint16_t *halves = (uint16_t *)result + first;
  if (row->dtype_bits == 32 && row->group == 1 && count == BLOCK)
    memcpy(floats, values, sizeof(*values));
  else if (row->dtype_bits == 32)
    for (uint64_t o = 0; o < count; ++o)
      floats[o * row->group] = (*values)[o];
  else if (row->dtype_code == kDLBfloat)
    for (uint64_t o = 0; o < count; ++o)
      halves[o * row->group] = rt_to_bfloat((*values)[o]);
  else
    for (uint64_t o = 0; o < count; ++o)
      halves[o * row->group] = rt_to_half((*values)[o]);
}

/* Multiplies the windows of one input and `count` outputs from `output` on,
 * which are in one panel. */
static void multiply(const transform *t, uint64_t output, uint64_t count,
                     uint64_t input) {
  const adze_module_transform *row = t->row;
  block windows[RT_MOST_WINDOW];
  if (count < BLOCK)
    memset(windows, 0, row->window * sizeof(windows[0]));
  read_windows(row, (output * row->inputs + input) * row->window, count,
               t->filter, windows);
  uint64_t groups = (row->inputs + row->group - 1) / row->group;
  for (uint64_t r = 0; r < row->rows; ++r) {
    block sums = {0};
    for (uint64_t k = 0; k < row->window; ++k) {
      float factor = t->matrix[r * row->window + k];
      if (factor != 0)
        sums += factor * windows[k];
    }
    uint64_t panel =
        (output / row->panel * row->rows + r) * groups + input / row->group;
    uint64_t first = (panel * row->panel + output % row->panel) * row->group +
                     input % row->group;
    write_values(row, t->result, first, count, &sums);
  }
}

static void compute(const transform *t) {
  const adze_module_transform *row = t->row;
  for (uint64_t output = 0; output < row->outputs;) {
    uint64_t count = row->panel - output % row->panel;
    if (count > row->outputs - output)
      count = row->outputs - output;
    if (count > BLOCK)
      count = BLOCK;
    for (uint64_t input = 0; input < row->inputs; ++input)
      multiply(t, output, count, input);
    output += count;
  }
}

static adze_status compute_all(adze_module *module) {
  const adze_module_desc *desc = module->desc;
  char *computed = rt_memory_take(module->memory, desc->computed_size);
  if (!computed)
    return rt_out_of_memory(desc->computed_size);
  memset(computed, 0, desc->computed_size);
  const char *weights = module->weights;
  for (uint64_t i = 0; i < desc->num_transforms; ++i) {
    const adze_module_transform *row = &desc->transforms[i];
    transform t = {row, weights + row->filter,
                   (const float *)(weights + row->matrix),
                   computed + row->result};
    compute(&t);
  }
  atomic_store_explicit(&module->computed, computed, memory_order_release);
  return NULL;
}

adze_status rt_compute_weights(adze_module *module) {
  if (!module->desc->num_transforms ||
      atomic_load_explicit(&module->computed, memory_order_acquire))
    return NULL;
  RT_TRY(rt_check_weights(module));
  adze_status status = NULL;
  pthread_mutex_lock(&module->weights_mutex);
  if (!atomic_load(&module->computed))
    status = compute_all(module);
  pthread_mutex_unlock(&module->weights_mutex);
  return status;
}

void rt_free_computed_weights(adze_module *module) {
  void *computed = atomic_load(&module->computed);
  if (computed)
    rt_memory_give(module->memory, computed, module->desc->computed_size);
}
