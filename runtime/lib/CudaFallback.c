/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs kernels that a device's image lacks on the CPU: their buffers are copied
 * to host memory before, and those that they write are copied back.
 * */
#include "CudaDriver.h"

#include <stdlib.h>

/* ---- Memory of a run ----------------------------------------------------- */

static uint64_t end_in(uint64_t address, const void *data, uint64_t bytes) {
  uint64_t begin = (uintptr_t)data;
  return address >= begin && address - begin < bytes ? begin + bytes : 0;
}

static void extend_in(uint64_t address, const void *data, uint64_t bytes,
                      uint64_t *end) {
  uint64_t found = end_in(address, data, bytes);
  if (found > *end)
    *end = found;
}

static void extend_in_tensor(uint64_t address, const void *data,
                             const DLTensor *tensor, uint64_t *end) {
  if (tensor)
    extend_in(address, data, rt_tensor_span(tensor), end);
}

/* Returns the end of the memory that holds `address`: the arena, a box, memory
 * that the host program allocated, inputs and outputs, of which several may
 * begin there. Returns 0 if no memory of the run holds it. */
static uint64_t end_of_memory(const adze_exec *exec, uint64_t address) {
  const adze_context *context = exec->context;
  const adze_module_desc *desc = context->module->desc;
  uint64_t end = end_in(address, context->workspace, context->needs.arena);
  for (uint32_t i = 0; i < desc->num_boxes; ++i)
    extend_in(address, context->boxes[i].data, context->boxes[i].bytes, &end);
  for (uint64_t i = 0; i < desc->num_states; ++i)
    extend_in(address, context->states[i].box.data,
              context->states[i].box.bytes, &end);
  for (const rt_block *block = exec->blocks; block; block = block->next)
    extend_in(address, block->data, block->bytes, &end);
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    extend_in_tensor(address, context->input_data[i],
                     context->on_device->inputs[i], &end);
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    extend_in_tensor(address, context->output_data[i], context->outputs[i],
                     &end);
    if (context->made && context->made[i]) {
      const DLTensor *made = &context->made[i]->dl_tensor;
      extend_in_tensor(address, made->data, made, &end);
    }
  }
  return end;
}

/* ---- Places -------------------------------------------------------------- */

/* Memory on the device, and the host's copy of it. */
typedef struct {
  uint64_t begin, end;
  char *copy;
} rt_range;

/* Buffers for the arguments of any kernel, owned by the context. */
struct rt_fallback {
  rt_range *places; /* one for each pointer; begin = end: nothing to copy */
  rt_range *ranges; /* the union of these, without overlap, in order */
  uint32_t num_ranges;
  int64_t *bytes;
  void **ptrs;  /* in host memory */
  void *memory; /* pinned: scratch memory, then the copies */
  uint64_t memory_bytes;
};

adze_status rt_fallback_create(rt_device_context *state, uint32_t most_ptrs) {
  size_t count = most_ptrs + 1u;
  rt_fallback *fallback = calloc(1, sizeof(*fallback));
  if (!fallback)
    return rt_out_of_memory(sizeof(*fallback));
  state->fallback = fallback;
  fallback->places = calloc(count, sizeof(rt_range));
  fallback->ranges = calloc(count, sizeof(rt_range));
  fallback->bytes = calloc(count, sizeof(int64_t));
  fallback->ptrs = calloc(count, sizeof(void *));
  return fallback->places && fallback->ranges && fallback->bytes &&
                 fallback->ptrs
             ? NULL
             : rt_out_of_memory(count * sizeof(rt_range));
}

void rt_fallback_free(adze_context *context) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  rt_fallback *fallback = state->fallback;
  if (!fallback)
    return;
  cu_context ignored;
  if (fallback->memory && !cu->push(state->device->primary)) {
    cu->deallocate_host(fallback->memory);
    cu->pop(&ignored);
  }
  rt_memory_count(context->module->memory, -(int64_t)fallback->memory_bytes);
  free(fallback->places);
  free(fallback->ranges);
  free(fallback->bytes);
  free(fallback->ptrs);
  free(fallback);
  state->fallback = NULL;
}

/* Finds the memory of one pointer of a kernel. Weights are on the host as well;
 * an empty buffer may have any address, or null. Returns false if no memory of
 * the run holds it. */
static bool find_place(const adze_exec *exec, const void *pointer,
                       int64_t bytes, rt_range *place) {
  const adze_context *context = exec->context;
  const adze_module *module = context->module;
  uint64_t address = (uintptr_t)pointer;
  uint64_t weights = (uintptr_t)rt_cuda_weights(context);
  *place = (rt_range){address, address, (char *)(uintptr_t)rt_nothing};
  if (weights &&
      end_in(address, (void *)(uintptr_t)weights, module->desc->weights_size)) {
    place->copy = (char *)(uintptr_t)rt_cuda_weights_on_host(context) +
                  (address - weights);
    return true;
  }
  if (bytes <= 0 || !pointer)
    return true;
  place->end = end_of_memory(exec, address);
  if (!place->end)
    return false;
  if (place->end - address > (uint64_t)bytes)
    place->end = address + (uint64_t)bytes;
  return true;
}

static int compare(const void *left, const void *right) {
  uint64_t a = ((const rt_range *)left)->begin,
           b = ((const rt_range *)right)->begin;
  return (a > b) - (a < b);
}

/* Merges overlapping buffers, as a result may share the memory of an operand.
 * They overlap likewise in the copies. */
static void merge_places(rt_fallback *fallback, uint32_t num_ptrs) {
  uint32_t count = 0, last = 0;
  for (uint32_t i = 0; i < num_ptrs; ++i)
    if (fallback->places[i].begin != fallback->places[i].end)
      fallback->ranges[count++] = fallback->places[i];
  qsort(fallback->ranges, count, sizeof(rt_range), compare);
  for (uint32_t i = 1; i < count; ++i) {
    rt_range *before = &fallback->ranges[last], *next = &fallback->ranges[i];
    if (next->begin >= before->end)
      fallback->ranges[++last] = *next;
    else if (next->end > before->end)
      before->end = next->end;
  }
  fallback->num_ranges = count ? last + 1 : 0;
}

static adze_status find_places(const adze_exec *exec, uint32_t kernel,
                               void *const *ptrs) {
  const adze_context *context = exec->context;
  const adze_module_kernel *info = &context->module->desc->kernels[kernel];
  rt_fallback *fallback = context->on_device->fallback;
  for (uint32_t i = 0; i < info->num_ptrs; ++i)
    fallback->bytes[i] = INT64_MAX; /* up to the end of its memory */
  if (info->places)
    info->places(context->symbols, fallback->bytes);
  for (uint32_t i = 0; i < info->num_ptrs; ++i)
    if (!find_place(exec, ptrs[i], fallback->bytes[i], &fallback->places[i]))
      return rt_error(ADZE_INVALID_MODULE,
                      "kernel '%s': expected operand %u to be memory of the "
                      "run",
                      info->name, i);
  merge_places(fallback, info->num_ptrs);
  return NULL;
}

/* ---- Copies -------------------------------------------------------------- */

/* Returns the offset that gives a copy the alignment of the original. */
static uint64_t misalignment(const rt_range *range) {
  return range->begin % RT_ALIGNMENT;
}

/* Allocates scratch memory and the copies. */
static adze_status reserve(adze_context *context, uint64_t scratch,
                           char **memory) {
  rt_device_context *state = context->on_device;
  rt_fallback *fallback = state->fallback;
  const cu_driver *cu = state->device->cu;
  uint64_t bytes = scratch + RT_ALIGNMENT;
  for (uint32_t i = 0; i < fallback->num_ranges; ++i) {
    const rt_range *range = &fallback->ranges[i];
    bytes += rt_align_up(misalignment(range) + range->end - range->begin);
  }
  if (bytes > fallback->memory_bytes) {
    if (fallback->memory)
      cu->deallocate_host(fallback->memory);
    rt_memory_count(context->module->memory, -(int64_t)fallback->memory_bytes);
    fallback->memory = NULL;
    fallback->memory_bytes = 0;
    CU_TRY(cu, allocate_host, (&fallback->memory, bytes));
    fallback->memory_bytes = bytes;
    rt_memory_count(context->module->memory, (int64_t)bytes);
  }
  *memory = (char *)(uintptr_t)rt_align_up((uintptr_t)fallback->memory);
  return NULL;
}

static adze_status copy_in(rt_device_context *state, char *memory) {
  rt_fallback *fallback = state->fallback;
  for (uint32_t i = 0; i < fallback->num_ranges; ++i) {
    rt_range *range = &fallback->ranges[i];
    uint64_t bytes = range->end - range->begin;
    range->copy = memory + misalignment(range);
    memory += rt_align_up(misalignment(range) + bytes);
    CU_TRY(state->device->cu, copy,
           ((uintptr_t)range->copy, range->begin, bytes, state->stream));
  }
  CU_TRY(state->device->cu, stream_wait, (state->stream));
  return NULL;
}

/* Returns the range that holds the address. */
static const rt_range *range_of(const rt_fallback *fallback,
                                const rt_range *place) {
  uint32_t first = 0, end = fallback->num_ranges;
  while (end - first > 1) {
    uint32_t middle = first + (end - first) / 2;
    if (fallback->ranges[middle].begin <= place->begin)
      first = middle;
    else
      end = middle;
  }
  return &fallback->ranges[first];
}

static void translate(rt_fallback *fallback, uint32_t num_ptrs) {
  for (uint32_t i = 0; i < num_ptrs; ++i) {
    rt_range *place = &fallback->places[i];
    if (place->begin != place->end) {
      const rt_range *range = range_of(fallback, place);
      place->copy = range->copy + (place->begin - range->begin);
    }
    fallback->ptrs[i] = place->copy;
  }
  /* The pointer to the print function, after the kernel's last argument. */
  fallback->ptrs[num_ptrs] = (void *)(uintptr_t)rt_print;
}

/* Copies back the last arguments of a kernel, which are those that it writes.
 * The host memory may be released when the copies are complete. */
static adze_status copy_out(const rt_device_context *state,
                            const adze_module_kernel *info) {
  const rt_fallback *fallback = state->fallback;
  for (uint32_t i = info->num_ptrs - info->num_outputs; i < info->num_ptrs;
       ++i) {
    const rt_range *place = &fallback->places[i];
    if (place->begin != place->end)
      CU_TRY(state->device->cu, copy,
             (place->begin, (uintptr_t)place->copy, place->end - place->begin,
              state->stream));
  }
  CU_TRY(state->device->cu, stream_wait, (state->stream));
  return NULL;
}

/* ---- Launches ------------------------------------------------------------ */

static adze_status scratch_of(const adze_context *context, uint32_t kernel,
                              rt_scratch *scratch, uint64_t *all) {
  const adze_cpu_kernel *code = &context->module->variant->kernels[kernel];
  int64_t bytes =
      code->scratch_bytes ? code->scratch_bytes(context->symbols) : 0;
  if (bytes < 0 || bytes > INT64_MAX / 4)
    return rt_error(
        ADZE_INVALID_MODULE, "kernel '%s': got %lld bytes of scratch memory",
        context->module->desc->kernels[kernel].name, (long long)bytes);
  scratch->bytes = rt_align_up((uint64_t)bytes);
  if (__builtin_mul_overflow(scratch->bytes, (uint64_t)context->lanes, all) ||
      *all > INT64_MAX / 4)
    return rt_out_of_memory(UINT64_MAX);
  return NULL;
}

adze_status rt_cuda_fall_back(adze_exec *exec, uint32_t kernel,
                              void *const *ptrs, int64_t steps,
                              int64_t groups) {
  adze_context *context = exec->context;
  rt_device_context *state = context->on_device;
  const adze_module_kernel *info = &context->module->desc->kernels[kernel];
  rt_scratch scratch = {NULL, 0};
  uint64_t scratch_bytes = 0;
  char *memory = NULL;
  RT_TRY(find_places(exec, kernel, ptrs));
  RT_TRY(scratch_of(context, kernel, &scratch, &scratch_bytes));
  RT_TRY(reserve(context, scratch_bytes, &memory));
  scratch.data = memory;
  RT_TRY(copy_in(state, memory + scratch_bytes));
  translate(state->fallback, info->num_ptrs);
  RT_TRY(rt_launch_on_cpu(context, kernel, state->fallback->ptrs, steps, groups,
                          &scratch));
  return copy_out(state, info);
}
