/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs on CUDA devices: copies and launches.
 */
#include "CudaDriver.h"

#include <string.h>

/* cuMemAlloc's alignment, for pieces of the staging buffer. */
#define STAGING_ALIGNMENT 256u

/* ---- Launches ------------------------------------------------------------ */

static cu_result submit(const rt_device_context *state,
                        const rt_launch *launch) {
  const cu_driver *cu = state->device->cu;
  cu_launch_attribute attributes[2];
  unsigned count = 0;
  if (launch->overlaps && cu->launch_extended && cu->overlaps)
    attributes[count++] =
        (cu_launch_attribute){.id = CU_LAUNCH_OVERLAPS, .value.allowed = 1};
  if (launch->cluster > 1)
    attributes[count++] = (cu_launch_attribute){
        .id = CU_LAUNCH_CLUSTER, .value.cluster = {launch->cluster, 1, 1}};
  if (!count)
    return cu->launch(launch->function, launch->grid[0], launch->grid[1], 1,
                      launch->block_threads, 1, 1, launch->shared_bytes,
                      state->stream, launch->arguments, NULL);
  cu_launch_config config = {{launch->grid[0], launch->grid[1], 1},
                             {launch->block_threads, 1, 1},
                             launch->shared_bytes,
                             state->stream,
                             attributes,
                             count};
  return cu->launch_extended(&config, launch->function, launch->arguments,
                             NULL);
}

adze_status rt_cuda_submit(const rt_device_context *state,
                           const rt_launch *launch) {
  if (rt_graphs_take(state, launch))
    return NULL;
  cu_result result = submit(state, launch);
  return result ? rt_cuda_error(state->device->cu, result, "launch") : NULL;
}

/* Returns whether clusters of this many blocks run at the same time, one block
 * on a multiprocessor. Large clusters of persistent blocks leave some
 * multiprocessors idle: those of 4 or 8 occupy 120 of the 132 of an H200. */
static bool fits(const rt_device *device, const adze_device_kernel *code,
                 int64_t programs, int64_t shared) {
  int64_t places = device->multiprocessors;
  if (code->resident_blocks && shared > 2)
    places = places * 10 / 11;
  return programs * shared <= places;
}

/* Returns how many blocks share a program (adze_device_kernel.most_shared). */
static unsigned count_shared(const rt_device *device,
                             const adze_device_kernel *code, int64_t programs) {
  if (!device->cu->launch_extended)
    return 1;
  int64_t most = code->most_shared, shared = 1;
  if (fits(device, code, programs, most))
    return most ? (unsigned)most : 1;
  while (shared * 2 <= most && fits(device, code, programs, shared * 2))
    shared *= 2;
  return (unsigned)shared;
}

/* The symbols that a kernel takes. */
typedef struct {
  const int64_t *values;
  uint32_t count;
} kernel_symbols;

/* Returns symbols that are valid until the next call. */
static kernel_symbols bind_symbols(const adze_context *context,
                                   const adze_device_kernel *code) {
  if (!code->bind_symbols)
    return (kernel_symbols){context->symbols,
                            (uint32_t)rt_num_symbols(context->module)};
  int64_t *values = context->on_device->symbols;
  code->bind_symbols(context->symbols, values);
  return (kernel_symbols){values, code->num_symbols};
}

/* `first` is the number of the first program, if the kernel has steps. */
static adze_status launch(adze_context *context, uint32_t kernel,
                          void *const *ptrs, kernel_symbols symbols,
                          int64_t programs, int64_t first) {
  rt_device_context *state = context->on_device;
  const adze_module_desc *desc = context->module->desc;
  const adze_device_kernel *code = &state->device->image->kernels[kernel];
  uint32_t num_ptrs = desc->kernels[kernel].num_ptrs, count = 0;
  for (uint32_t i = 0; i < num_ptrs; ++i)
    state->arguments[count++] = (void *)(uintptr_t)&ptrs[i];
  for (uint32_t i = 0; i < symbols.count; ++i)
    state->arguments[count++] = (void *)(uintptr_t)&symbols.values[i];
  bool has_steps = code->flags & ADZE_KERNEL_STEPS;
  state->arguments[count++] = has_steps ? &first : &programs;
  adze_fault *faults =
      state->faults ? state->faults + desc->kernels[kernel].first_fault : NULL;
  /* the kernel ignores it if it raises no faults */
  state->arguments[count++] = &faults;
  rt_tensor_map maps[RT_MOST_MAPS];
  if (code->num_maps)
    RT_TRY(rt_maps_fill(context, kernel, ptrs, symbols.values, maps));
  for (uint32_t i = 0; i < code->num_maps; ++i)
    state->arguments[count++] = &maps[i];
  unsigned shared = count_shared(state->device, code, programs);
  int64_t blocks = programs * shared;
  int64_t resident =
      (int64_t)code->resident_blocks * state->device->multiprocessors;
  if (shared == 1 && resident && resident < blocks)
    blocks = resident;
  rt_launch made = {.function = state->device->functions[kernel],
                    .grid = {(unsigned)blocks, 1},
                    .block_threads = code->block_threads,
                    .shared_bytes = code->shared_bytes,
                    .cluster = shared,
                    .overlaps = code->flags & ADZE_KERNEL_WAITS,
                    .arguments = state->arguments,
                    .count = count,
                    .first_wide = count - code->num_maps,
                    .wide_bytes = sizeof(rt_tensor_map),
                    .first_symbol = num_ptrs,
                    .num_symbols = symbols.count,
                    .symbols_read = code->symbols_read};
  return rt_cuda_submit(state, &made);
}

/* Work is measured with events of the device. */
static adze_status begin_measuring(const rt_device_context *state) {
  CU_TRY(state->device->cu, event_record, (state->begin, state->stream));
  return NULL;
}

/* Waits for the work since begin_measuring, and returns its duration. */
static adze_status end_measuring(const rt_device_context *state, double *us) {
  const cu_driver *cu = state->device->cu;
  float ms = 0;
  CU_TRY(cu, event_record, (state->end, state->stream));
  CU_TRY(cu, event_wait, (state->end));
  CU_TRY(cu, event_elapsed, (&ms, state->begin, state->end));
  *us = (double)ms * 1e3;
  return NULL;
}

static adze_status launch_profiled(adze_context *context, uint32_t kernel,
                                   void *const *ptrs, kernel_symbols symbols,
                                   int64_t programs, int64_t first) {
  const rt_device_context *state = context->on_device;
  double begin = rt_now_us(), us;
  RT_TRY(begin_measuring(state));
  RT_TRY(launch(context, kernel, ptrs, symbols, programs, first));
  RT_TRY(end_measuring(state, &us));
  rt_profile_add(context, kernel, begin, us, programs, 0);
  return NULL;
}

int32_t rt_cuda_launch(adze_exec *exec, uint32_t kernel, void *const *ptrs,
                       int64_t steps, int64_t groups) {
  adze_context *context = exec->context;
  const rt_device *device = context->on_device->device;
  if (!device->functions[kernel]) {
    adze_status status = rt_cuda_fall_back(exec, kernel, ptrs, steps, groups);
    return status ? rt_exec_fail(exec, status) : 0;
  }
  const adze_device_kernel *code = &device->image->kernels[kernel];
  kernel_symbols symbols = bind_symbols(context, code);
  int64_t programs = code->programs(symbols.values);
  if (programs <= 0)
    return 0;
  if (!(code->flags & ADZE_KERNEL_STEPS))
    steps = 1;
  else if (steps < 1 || programs % steps != 0)
    return rt_exec_fail(exec,
                        rt_error(ADZE_INVALID_MODULE,
                                 "kernel '%s': %lld programs in %lld steps",
                                 context->module->desc->kernels[kernel].name,
                                 (long long)programs, (long long)steps));
  programs /= steps;
  if (programs > INT32_MAX)
    return rt_exec_fail(exec,
                        rt_error(ADZE_UNSUPPORTED,
                                 "kernel '%s': %lld blocks are too many",
                                 context->module->desc->kernels[kernel].name,
                                 (long long)programs));
  adze_status status = NULL;
  for (int64_t i = 0; i < steps && !status; ++i)
    status = (context->profile.on ? launch_profiled : launch)(
        context, kernel, ptrs, symbols, programs, i * programs);
  return status ? rt_exec_fail(exec, status) : 0;
}

static adze_status copy(const rt_device_context *state, cu_stream stream,
                        void *to, const void *from, uint64_t bytes) {
  void *arguments[] = {&to, (void *)(uintptr_t)&from, &bytes};
  rt_launch made = {.arguments = arguments, .count = 3, .first_wide = 3};
  if (bytes && !rt_graphs_take(state, &made))
    CU_TRY(state->device->cu, copy,
           ((uintptr_t)to, (uintptr_t)from, bytes, stream));
  return NULL;
}

static adze_status copy_pieces(const rt_device_context *state, cu_stream stream,
                               rt_pieces to, rt_pieces from, uint64_t bytes,
                               uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    RT_TRY(copy(state, stream, to.data + i * to.step, from.data + i * from.step,
                bytes));
  return NULL;
}

int32_t rt_cuda_copy(adze_exec *exec, void *to, const void *from,
                     uint64_t bytes) {
  const rt_device_context *state = exec->context->on_device;
  adze_status status = copy(state, state->stream, to, from, bytes);
  return status ? rt_exec_fail(exec, status) : 0;
}

adze_status rt_cuda_copy_rows(adze_context *context, uint32_t number,
                              rt_pieces to, rt_pieces from, uint64_t bytes,
                              uint64_t count) {
  const rt_device_context *state = context->on_device;
  double begin = context->profile.on ? rt_now_us() : 0, us;
  if (context->profile.on)
    RT_TRY(begin_measuring(state));
  RT_TRY(copy_pieces(state, state->stream, to, from, bytes, count));
  if (!context->profile.on)
    return NULL;
  RT_TRY(end_measuring(state, &us));
  rt_profile_add_copy(context, number, begin, us, (int64_t)(bytes * count), 0);
  return NULL;
}

/* Copies pieces that overlap their copies by way of another buffer. */
static adze_status move_pieces(adze_context *context, rt_pieces to,
                               rt_pieces from, uint64_t bytes, uint64_t count) {
  const rt_device_context *state = context->on_device;
  void *data;
  RT_TRY(rt_cuda_take(context, bytes * count, &data));
  rt_pieces between = {data, bytes};
  adze_status status =
      copy_pieces(state, state->own_stream, between, from, bytes, count);
  if (!status)
    status = copy_pieces(state, state->own_stream, to, between, bytes, count);
  state->device->cu->stream_wait(state->own_stream);
  rt_cuda_give(context->module, state->device->ordinal, data, bytes * count);
  return status;
}

/* Waits for the work unless `status` is an error, and pops the device. */
static adze_status finish_transfer(const rt_device_context *state,
                                   adze_status status) {
  const cu_driver *cu = state->device->cu;
  cu_context ignored;
  cu_result result = status ? 0 : cu->stream_wait(state->own_stream);
  cu->pop(&ignored);
  return result ? rt_cuda_error(cu, result, "stream_wait") : status;
}

adze_status rt_cuda_transfer(adze_context *context, rt_pieces to,
                             rt_pieces from, uint64_t bytes, uint64_t count) {
  const rt_device_context *state = context->on_device;
  CU_TRY(state->device->cu, push, (state->device->primary));
  bool overlaps = to.data < from.data + bytes && from.data < to.data + bytes &&
                  to.data != from.data;
  return finish_transfer(
      state,
      overlaps ? move_pieces(context, to, from, bytes, count)
               : copy_pieces(state, state->own_stream, to, from, bytes, count));
}

static adze_status set_zero(const rt_device_context *state, void *data,
                            uint64_t bytes) {
  CU_TRY(state->device->cu, set,
         ((uintptr_t)data, 0, bytes, state->own_stream));
  return NULL;
}

adze_status rt_cuda_set_zero(adze_context *context, void *data,
                             uint64_t bytes) {
  const rt_device_context *state = context->on_device;
  CU_TRY(state->device->cu, push, (state->device->primary));
  return finish_transfer(state, set_zero(state, data, bytes));
}

void rt_cuda_wait(adze_context *context) {
  rt_device_context *state = context->on_device;
  state->allocated = true;
  state->device->cu->stream_wait(state->stream);
}

adze_status rt_cuda_execute(adze_context *context, cu_stream stream) {
  rt_device_context *state = context->on_device;
  state->stream = stream;
  state->allocated = false;
  RT_TRY(rt_states_clear(context));
  return rt_execute(context, rt_cuda_weights(context), NULL);
}

/* ---- Inputs and outputs ---------------------------------------------------
 */

/* The alignment that tensor maps require. */
#define MAP_ALIGNMENT 16u

static bool in_place(const rt_device_context *state, const DLTensor *tensor) {
  if (state->device->has_maps &&
      (uintptr_t)rt_tensor_data(tensor) % MAP_ALIGNMENT)
    return false;
  return tensor->device.device_type == kDLCUDA ||
         tensor->device.device_type == kDLCUDAManaged;
}

bool rt_cuda_in_place(const adze_context *context, const DLTensor *tensor) {
  return in_place(context->on_device, tensor);
}

/* Returns the device address of the tensor; a copied one gets the next part of
 * the staging buffer. */
static void *place(const rt_device_context *state, const DLTensor *tensor,
                   uint64_t *offset) {
  if (in_place(state, tensor))
    return rt_tensor_data(tensor);
  uint64_t at = *offset;
  *offset += (rt_tensor_size(tensor) + STAGING_ALIGNMENT - 1) /
             STAGING_ALIGNMENT * STAGING_ALIGNMENT;
  return (void *)(uintptr_t)(state->staging + at);
}

static uint64_t place_all(adze_context *context, const DLTensor *const inputs[],
                          DLTensor *const outputs[]) {
  const adze_module_desc *desc = context->module->desc;
  const rt_device_context *state = context->on_device;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    context->input_data[i] = place(state, inputs[i], &bytes);
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    context->output_data[i] =
        outputs[i] ? place(state, outputs[i], &bytes) : NULL;
  return bytes;
}

static adze_status stage(adze_context *context, const DLTensor *const inputs[],
                         DLTensor *const outputs[]) {
  rt_device_context *state = context->on_device;
  uint64_t bytes = place_all(context, inputs, outputs);
  if (bytes <= state->staging_bytes)
    return NULL;
  rt_cuda_give(context->module, state->device->ordinal,
               (void *)(uintptr_t)state->staging, state->staging_bytes);
  state->staging = 0;
  state->staging_bytes = 0;
  void *data;
  RT_TRY(rt_cuda_take(context, bytes, &data));
  state->staging = (uintptr_t)data;
  state->staging_bytes = bytes;
  place_all(context, inputs, outputs);
  return NULL;
}

/* ---- Faults -------------------------------------------------------------- */

/* Returns the error of a raised record, and clears the records. No kernel is
 * running. Kernels that ran on the host have separate records. */
static adze_status take_faults(adze_context *context) {
  const rt_device_context *state = context->on_device;
  uint64_t count = context->module->desc->num_faults;
  for (uint64_t i = 0; i < count; ++i)
    if (state->faults[i].raised)
      context->faults[i] = state->faults[i];
  adze_status fault = rt_faults_take(context);
  if (fault)
    memset(state->faults, 0, count * sizeof(adze_fault));
  return fault;
}

/* Returns the fault of an earlier run that has not been waited for. */
static adze_status take_earlier_faults(adze_context *context) {
  rt_device_context *state = context->on_device;
  if (!state->unfinished)
    return NULL;
  uint64_t count = context->module->desc->num_faults;
  bool raised = false;
  for (uint64_t i = 0; i < count && !raised; ++i)
    raised = *(volatile uint64_t *)&state->faults[i].raised;
  if (!raised)
    return NULL;
  /* The record may be incomplete. */
  CU_TRY(state->device->cu, stream_wait, (state->stream));
  state->unfinished = false;
  return take_faults(context);
}

static adze_status run(adze_context *context, const DLTensor *const inputs[],
                       DLTensor *const outputs[], cu_stream stream, bool wait) {
  const adze_module_desc *desc = context->module->desc;
  rt_device_context *state = context->on_device;
  state->inputs = inputs;
  RT_TRY(take_earlier_faults(context));
  RT_TRY(stage(context, inputs, outputs));
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    if (!in_place(state, inputs[i]))
      RT_TRY(copy(state, stream, context->input_data[i],
                  rt_tensor_data(inputs[i]), rt_tensor_size(inputs[i])));
  rt_states_open(context);
  if (state->captures && !context->profile.on)
    RT_TRY(rt_graphs_execute(context, stream));
  else
    RT_TRY(rt_cuda_execute(context, stream));
  state->stream = stream;
  RT_TRY(rt_states_close(context));
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    if (outputs[i] && !in_place(state, outputs[i]))
      RT_TRY(copy(state, stream, rt_tensor_data(outputs[i]),
                  context->output_data[i], rt_tensor_size(outputs[i])));
  state->unfinished = !wait;
  if (!wait)
    return NULL;
  CU_TRY(state->device->cu, stream_wait, (stream));
  return take_faults(context);
}

adze_status rt_cuda_run(adze_context *context, const DLTensor *const inputs[],
                        DLTensor *const outputs[], void *stream, bool wait) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  cu_context ignored;
  CU_TRY(cu, push, (state->device->primary));
  adze_status status =
      run(context, inputs, outputs, stream ? stream : state->own_stream, wait);
  /* A failed run may have enqueued work that uses the caller's memory. */
  if (status)
    cu->stream_wait(stream ? stream : state->own_stream);
  cu->pop(&ignored);
  return status;
}
