/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A module written by hand, for the tests of states on devices: a cache of two
 * heads gets one more row, that of x.
 *   present[h, :past] = past[h], present[h, past] = x[h, 0]
 * With FRESH_ROWS rows, those after it are 0.
 */
#include "adze.h"
#include "adze_module.h"

#include <stddef.h>

#ifndef FRESH_ROWS
#define FRESH_ROWS 1
#endif

__attribute__((section(".note.adze"), used, aligned(8))) static const struct {
  uint32_t name_size, desc_size, type;
  char name[12];
  adze_module_note note;
} the_note = {sizeof(ADZE_NOTE_OWNER),
              sizeof(adze_module_note),
              ADZE_NOTE_TYPE,
              ADZE_NOTE_OWNER,
              {.size = sizeof(adze_module_note), .abi = ADZE_MODULE_ABI}};

enum { PAST, PITCH };
enum { HEADS = 2, ROW_BYTES = 4 * sizeof(float) };

static int32_t run(const adze_host_table *host, adze_exec *exec,
                   void *const *inputs, void *const *outputs, void *arena,
                   const void *weights, const int64_t *syms) {
  (void)outputs;
  (void)arena;
  (void)weights;
  char *cache = host->state(exec, 0);
  if (!cache)
    return 1;
  int32_t code = 0;
  for (int64_t head = 0; head < HEADS && !code; ++head)
    code =
        host->copy(exec, cache + (head * syms[PITCH] + syms[PAST]) * ROW_BYTES,
                   (char *)inputs[1] + head * ROW_BYTES, ROW_BYTES);
  return code;
}

static int64_t count_rows(const int64_t *syms) {
  return syms[PAST] + FRESH_ROWS;
}
static int64_t nothing(const int64_t *syms) {
  (void)syms;
  return 0;
}
static void infer(const int64_t *syms, int64_t *dims) {
  dims[0] = HEADS;
  dims[1] = syms[PAST] + FRESH_ROWS;
  dims[2] = 4;
}

static const adze_module_symbol symbols[] = {{"past", 0, -1, 1},
                                             {"pitch", 0, -1, 1}};
static const adze_module_dim past[] = {
    {HEADS, -1, 0}, {-1, PAST, 0}, {4, -1, 0}};
static const adze_module_dim one[] = {{HEADS, -1, 0}, {1, -1, 0}, {4, -1, 0}};
static const adze_module_dim present[] = {
    {HEADS, -1, 0}, {-1, -1, 0}, {4, -1, 0}};
static const adze_module_value inputs[] = {{"past", 2, 32, 0, 3, past},
                                           {"x", 2, 32, 0, 3, one}};
static const adze_module_value outputs[] = {{"present", 2, 32, 0, 3, present}};
static const adze_state states[] = {{0, 0, ADZE_STATE_ROWS, 1,
                                     FRESH_ROWS > 1 ? ADZE_STATE_ZEROED : 0,
                                     PITCH, count_rows, nothing}};
static const adze_cpu_variant variants[] = {{0, "baseline", NULL}};
static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry add() { ret; }\n";
static const adze_device_image images[] = {
    {"cuda:sm_70", 70, ADZE_IMAGE_PTX, ptx, sizeof(ptx), NULL}};
static const adze_module_row_sizes row_sizes = ADZE_MODULE_ROW_SIZES;

static const adze_module_desc desc = {
    .size = sizeof(adze_module_desc),
    .abi = ADZE_MODULE_ABI,
    .producer = "by hand",
    .build_id = "89ab",
    .model_name = "states",
    .num_inputs = 2,
    .num_outputs = 1,
    .num_symbols = 1,
    .num_data_symbols = 1,
    .inputs = inputs,
    .outputs = outputs,
    .symbols = symbols,
    .num_variants = 1,
    .num_images = 1,
    .variants = variants,
    .images = images,
    .run = run,
    .infer = infer,
    .arena_bytes = nothing,
    .arena_lower_bound = nothing,
    .row_sizes = &row_sizes,
    .states = states,
    .num_states = 1,
    .structure_id = "cdef",
};

__attribute__((visibility("default"))) const adze_module_desc *
adze_module_query(uint32_t abi) {
  return abi == ADZE_MODULE_ABI ? &desc : NULL;
}
