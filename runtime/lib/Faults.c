/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Converts faults that kernels and range checks record (adze_module.h) to the
 * status of the run.
 * */
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

static const size_t num_values = sizeof((adze_fault){0}.values) / 8;

adze_status rt_faults_create(adze_context *context) {
  uint64_t count = context->module->desc->num_faults;
  if (!count)
    return NULL;
  context->faults = calloc(count, sizeof(adze_fault));
  return context->faults ? NULL : rt_out_of_memory(count * sizeof(adze_fault));
}

/* Appends the message with the values of the record in place of {0} to {2}. */
static void add_message(rt_text *text, const char *message,
                        const int64_t *values) {
  for (const char *at = message; *at;) {
    size_t digit = *at == '{' && at[1] ? (size_t)(at[1] - '0') : num_values;
    if (digit < num_values && at[2] == '}') {
      rt_text_add(text, "%lld", (long long)values[digit]);
      at += 3;
      continue;
    }
    size_t plain = 1 + strcspn(at + 1, "{");
    rt_text_add(text, "%.*s", (int)plain, at);
    at += plain;
  }
}

static adze_status make_status(const adze_module_fault *row,
                               const adze_fault *record) {
  rt_text text = {0};
  add_message(&text, row->message ? row->message : "", record->values);
  adze_status status = text.failed ? rt_out_of_memory(text.capacity)
                                   : rt_error(ADZE_RUN_ERROR, "node '%s': %s",
                                              row->node ? row->node : "",
                                              text.data ? text.data : "");
  rt_text_free(&text);
  return status;
}

adze_status rt_faults_take(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  adze_status status = NULL;
  for (uint64_t i = 0; i < desc->num_faults && !status; ++i)
    if (context->faults[i].raised)
      status = make_status(&desc->faults[i], &context->faults[i]);
  if (status)
    memset(context->faults, 0, desc->num_faults * sizeof(adze_fault));
  return status;
}

adze_status rt_faults_take_of(adze_context *context,
                              const adze_module_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->num_faults; ++i)
    if (context->faults[kernel->first_fault + i].raised)
      return rt_faults_take(context);
  return NULL;
}

static int64_t load_integer(const void *place, uint32_t bytes) {
  int32_t narrow;
  int64_t wide;
  if (bytes == sizeof(narrow)) {
    memcpy(&narrow, place, sizeof(narrow));
    return narrow;
  }
  memcpy(&wide, place, sizeof(wide));
  return wide;
}

int32_t rt_check_range(adze_exec *exec, uint32_t fault, const void *least,
                       const void *greatest, uint32_t bytes, int64_t low,
                       int64_t high) {
  adze_context *context = exec->context;
  if (fault >= context->module->desc->num_faults)
    return rt_exec_fail(
        exec,
        rt_error(ADZE_INVALID_MODULE, "expected a fault below %llu, but got %u",
                 (unsigned long long)context->module->desc->num_faults, fault));
  if (context->on_device)
    return rt_cuda_check_range(exec, fault, least, greatest, bytes, low, high);
  int64_t smallest = load_integer(least, bytes),
          largest = load_integer(greatest, bytes);
  if (smallest >= low && largest < high)
    return 0;
  context->faults[fault] =
      (adze_fault){1, {smallest < low ? smallest : largest, low, high}};
  return rt_exec_fail(exec, rt_faults_take(context));
}
