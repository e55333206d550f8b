/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * States: outputs that continue inputs. If the caller passes one buffer for
 * both, the program stores new rows into it; else the old rows are copied
 * first. The addresses determine the mode for each state in each run; the
 * program is the same.
 * */
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ---------------------------------------------------------------- */

/* Rows in memory: `outer` times `count` rows of `bytes` bytes, `pitch` rows
 * apart. */
typedef struct {
  char *data;
  uint64_t outer, count, bytes, pitch;
} row_array;

/* Returns the rows of `tensor`, which rt_check_strides has checked. The pitch
 * is 0 if no stride determines it. */
static row_array rows_of(const DLTensor *tensor, uint32_t axis) {
  row_array rows = {rt_tensor_data(tensor), 1, (uint64_t)tensor->shape[axis],
                    tensor->dtype.bits / 8u, 0};
  int32_t last = -1;
  for (int32_t d = 0; d < tensor->ndim; ++d) {
    if (d < (int32_t)axis) {
      rows.outer *= (uint64_t)tensor->shape[d];
      if (tensor->shape[d] != 1)
        last = d;
    } else if (d > (int32_t)axis) {
      rows.bytes *= (uint64_t)tensor->shape[d];
    }
  }
  if (last < 0 || !rows.outer || !rows.bytes)
    return rows;
  uint64_t inner = rows.bytes / (tensor->dtype.bits / 8u);
  rows.pitch = tensor->strides && rows.count
                   ? (uint64_t)tensor->strides[last] / inner
                   : rows.count;
  return rows;
}

/* ---- Copies -------------------------------------------------------------- */

/* The bytes that a thread copies at a time. */
#define COPY_PIECE ((uint64_t)1 << 18)

typedef struct {
  row_array to, from;
  uint64_t pieces; /* of each of the outer dims */
  atomic_uint_fast64_t next;
} copy_job;

static void copy_lane(void *data, int32_t lane) {
  (void)lane;
  copy_job *job = data;
  uint64_t bytes = job->from.count * job->from.bytes;
  for (;;) {
    uint64_t at = atomic_fetch_add(&job->next, 1);
    uint64_t outer = at / job->pieces, begin = at % job->pieces * COPY_PIECE;
    if (outer >= job->from.outer)
      return;
    uint64_t rest = bytes - begin;
    memcpy(job->to.data + outer * job->to.pitch * job->to.bytes + begin,
           job->from.data + outer * job->from.pitch * job->from.bytes + begin,
           rest < COPY_PIECE ? rest : COPY_PIECE);
  }
}

/* Copies the rows of `from`: on the device of the context, or on all threads.
 */
static adze_status copy_rows(adze_context *context, uint32_t state,
                             row_array to, row_array from) {
  uint64_t bytes = from.count * from.bytes;
  if (!bytes || !from.outer)
    return NULL;
  if (context->on_device)
    return rt_cuda_copy_rows(
        context, state, (rt_pieces){to.data, to.pitch * to.bytes},
        (rt_pieces){from.data, from.pitch * from.bytes}, bytes, from.outer);
  double begin = context->profile.on ? rt_now_us() : 0;
  copy_job job = {
      .to = to, .from = from, .pieces = (bytes + COPY_PIECE - 1) / COPY_PIECE};
  atomic_init(&job.next, 0);
  int32_t lanes =
      context->pool && bytes * from.outer > 2 * COPY_PIECE ? context->lanes : 1;
  if (lanes > 1)
    rt_pool_run(context->pool, lanes, copy_lane, &job);
  else
    copy_lane(&job, 0);
  if (context->profile.on)
    rt_profile_add_copy(context, state, begin, rt_now_us() - begin,
                        (int64_t)(bytes * from.outer), lanes);
  return NULL;
}

static rt_equal_pieces pieces_of(row_array rows) {
  return (rt_equal_pieces){(uint64_t)(uintptr_t)rows.data,
                           rows.pitch * rows.bytes, rows.count * rows.bytes,
                           rows.outer};
}

static adze_status clear_rows(adze_context *context, row_array rows) {
  if (context->on_device) {
    rt_equal_pieces pieces = pieces_of(rows);
    return rt_cuda_clear(context, &pieces, 1);
  }
  for (uint64_t outer = 0; outer < rows.outer; ++outer)
    memset(rows.data + outer * rows.pitch * rows.bytes, 0,
           rows.count * rows.bytes);
  return NULL;
}

/* ---- Which buffer -------------------------------------------------------- */

static const char *output_name(const adze_context *context, uint32_t state) {
  const adze_module_desc *desc = context->module->desc;
  return desc->outputs[desc->states[state].output].name;
}

static const char *input_name(const adze_context *context, uint32_t state) {
  const adze_module_desc *desc = context->module->desc;
  return desc->inputs[desc->states[state].input].name;
}

/* Uses a box of `bytes` bytes as the buffer of the state. */
static adze_status take_box(adze_context *context, uint32_t state,
                            uint64_t bytes) {
  rt_box *box = &context->states[state].box;
  if (box->bytes >= bytes)
    return NULL;
  if (box->data)
    rt_context_give(context, box->data, box->bytes);
  *box = (rt_box){0};
  RT_TRY(rt_context_take(context, bytes, &box->data));
  box->bytes = bytes;
  return NULL;
}

/* Returns true if the run copies a tensor of the state to or from its device.
 */
static bool is_staged(const adze_context *context, uint32_t state) {
  const adze_state *row = &context->module->desc->states[state];
  return context->on_device &&
         !(rt_cuda_in_place(context, context->inputs[row->input]) &&
           rt_cuda_in_place(context, context->outputs[row->output]));
}

/* Returns the rows of the input and the output of a state, and how many its
 * buffer has. `is_bound`: their places on the device are known. */
static void get_rows(const adze_context *context, uint32_t state, bool is_bound,
                     row_array *past, row_array *present, uint64_t *total,
                     uint64_t *drop) {
  const adze_state *row = &context->module->desc->states[state];
  *past = rows_of(context->inputs[row->input], row->axis);
  *present = rows_of(context->outputs[row->output], row->axis);
  if (is_bound && context->on_device) {
    past->data = context->input_data[row->input];
    present->data = context->output_data[row->output];
  }
  *total = (uint64_t)row->rows(context->symbols);
  *drop = (uint64_t)row->drop(context->symbols);
}

/* Rows in host memory are copied to the device as they are. */
static adze_status check_dense(const char *kind, const char *name,
                               const row_array *rows) {
  if (!rows->pitch || rows->pitch == rows->count)
    return NULL;
  return rt_error(ADZE_INVALID_ARGUMENT,
                  "%s '%s': expected dense strides of a tensor in host memory, "
                  "or one in device memory",
                  kind, name);
}

/* Decides whether the output continues the input in one buffer. */
static adze_status choose_mode(adze_context *context, uint32_t state,
                               const row_array *past, const row_array *present,
                               uint64_t total, uint64_t drop,
                               rt_state *result) {
  if (is_staged(context, state)) {
    RT_TRY(check_dense("input", input_name(context, state), past));
    RT_TRY(check_dense("output", output_name(context, state), present));
    result->mode = drop ? RT_STATE_BOX : RT_STATE_COPY;
    result->pitch = drop ? 0 : present->pitch;
    return NULL;
  }
  bool one_pitch = !past->pitch || !present->pitch || !past->count ||
                   past->pitch == present->pitch;
  uint64_t skipped = drop * past->bytes;
  if (past->count && present->data == past->data + skipped && one_pitch) {
    if (past->pitch && past->pitch < total)
      return rt_error(ADZE_INVALID_ARGUMENT,
                      "output '%s': expected a capacity of at least %llu rows, "
                      "but got %llu (the strides of input '%s')",
                      output_name(context, state), (unsigned long long)total,
                      (unsigned long long)past->pitch,
                      input_name(context, state));
    result->mode = RT_STATE_IN_PLACE;
    result->pitch = past->pitch;
    return NULL;
  }
  bool is_shifted = drop && present->data == past->data &&
                    present->count == past->count && one_pitch;
  const adze_state *row = &context->module->desc->states[state];
  if (!is_shifted && rt_tensors_overlap(context->inputs[row->input],
                                        context->outputs[row->output]))
    return rt_error(
        ADZE_INVALID_ARGUMENT,
        "output '%s': overlaps input '%s' without continuing it: expected its "
        "data %llu rows (%llu bytes) after those of the input, with equal "
        "strides",
        output_name(context, state), input_name(context, state),
        (unsigned long long)drop, (unsigned long long)skipped);
  result->mode = drop ? RT_STATE_BOX : RT_STATE_COPY;
  result->pitch = drop ? 0 : present->pitch;
  return NULL;
}

/* Sets the pitch of states that share a symbol: that of the first one in place,
 * or of the first one. States with another pitch use boxes. */
static adze_status choose_pitches(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  for (int pass = RT_STATE_IN_PLACE; pass <= RT_STATE_BOX; ++pass)
    for (uint32_t i = 0; i < desc->num_states; ++i) {
      const adze_state *row = &desc->states[i];
      rt_state *state = &context->states[i];
      if (row->kind != ADZE_STATE_ROWS || (int)state->mode != pass)
        continue;
      int64_t *pitch = &context->symbols[row->pitch_symbol];
      if (!*pitch)
        *pitch =
            state->pitch ? (int64_t)state->pitch : row->rows(context->symbols);
      if (!state->pitch || (uint64_t)*pitch == state->pitch)
        continue;
      if (pass == RT_STATE_IN_PLACE)
        return rt_error(ADZE_INVALID_ARGUMENT,
                        "output '%s': expected a capacity of %lld rows, as "
                        "other states of its shape have, but got %llu",
                        output_name(context, i), (long long)*pitch,
                        (unsigned long long)state->pitch);
      state->mode = RT_STATE_BOX;
    }
  return NULL;
}

static adze_status check_whole(adze_context *context, uint32_t state,
                               const DLTensor *input, const DLTensor *output) {
  context->states[state].mode = RT_STATE_COPY;
  if (is_staged(context, state) || !rt_tensors_overlap(input, output))
    return NULL;
  if (rt_tensor_data(input) != rt_tensor_data(output))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "output '%s': overlaps input '%s' without continuing it: "
                    "expected the same address",
                    output_name(context, state), input_name(context, state));
  if (context->module->desc->states[state].kind == ADZE_STATE_KEEP) {
    context->states[state].mode = RT_STATE_IN_PLACE;
    return NULL;
  }
  /* The program may read the input after it has begun to write the output. */
  context->states[state].mode = RT_STATE_BOX;
  return take_box(context, state, rt_tensor_size(output));
}

adze_status rt_states_choose(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  for (uint32_t i = 0; i < desc->num_states; ++i) {
    const adze_state *row = &desc->states[i];
    if (row->kind != ADZE_STATE_ROWS) {
      RT_TRY(check_whole(context, i, context->inputs[row->input],
                         context->outputs[row->output]));
      continue;
    }
    row_array past, present;
    uint64_t total, drop;
    get_rows(context, i, /*is_bound=*/false, &past, &present, &total, &drop);
    context->states[i].past_pitch = past.pitch;
    RT_TRY(choose_mode(context, i, &past, &present, total, drop,
                       &context->states[i]));
  }
  return choose_pitches(context);
}

/* ---- Before and after a run ---------------------------------------------- */

/* Returns the old rows of a state in `past`, and their place in the buffer of
 * the program, which is unknown if that is a box. */
static row_array get_buffer(const adze_context *context, uint32_t i,
                            row_array *past) {
  row_array present;
  uint64_t total, drop;
  get_rows(context, i, /*is_bound=*/true, past, &present, &total, &drop);
  row_array buffer = *past;
  uint32_t pitch = context->module->desc->states[i].pitch_symbol;
  buffer.pitch = (uint64_t)context->symbols[pitch];
  if (context->states[i].mode == RT_STATE_COPY)
    buffer.data = present.data;
  return buffer;
}

/* Returns the rows of the buffer after the old ones that the program requires
 * to be 0. */
static row_array get_cleared(const adze_context *context, uint32_t i,
                             row_array buffer) {
  const adze_state *row = &context->module->desc->states[i];
  uint64_t past = buffer.count, total = (uint64_t)row->rows(context->symbols);
  buffer.count = 0;
  if (!(row->flags & ADZE_STATE_ZEROED) || total <= past)
    return buffer;
  buffer.data += past * buffer.bytes;
  buffer.count = total - past;
  return buffer;
}

/* On devices, new rows are cleared when a run begins: those of all states by
 * one launch. */
static bool clears_first(const adze_context *context, uint32_t state) {
  return context->on_device && context->states[state].mode != RT_STATE_BOX;
}

adze_status rt_states_clear(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  rt_equal_pieces pieces[RT_MOST_CLEARED];
  uint32_t count = 0;
  for (uint32_t i = 0; i < desc->num_states; ++i) {
    if (desc->states[i].kind != ADZE_STATE_ROWS || !clears_first(context, i))
      continue;
    row_array past, buffer = get_buffer(context, i, &past),
                    rows = get_cleared(context, i, buffer);
    if (rows.count && rows.outer && rows.bytes)
      pieces[count++] = pieces_of(rows);
    if (count == RT_MOST_CLEARED) {
      RT_TRY(rt_cuda_clear(context, pieces, count));
      count = 0;
    }
  }
  return rt_cuda_clear(context, pieces, count);
}

/* Copies the old rows to the buffer of the program, and returns it. */
static adze_status open_rows(adze_context *context, uint32_t i, void **place) {
  rt_state *state = &context->states[i];
  row_array past, buffer = get_buffer(context, i, &past);
  if (state->mode == RT_STATE_BOX) {
    uint64_t bytes;
    if (__builtin_mul_overflow(buffer.outer * buffer.pitch, buffer.bytes,
                               &bytes))
      return rt_out_of_memory(UINT64_MAX);
    RT_TRY(take_box(context, i, bytes ? bytes : 1));
    buffer.data = state->box.data;
  }
  *place = buffer.data ? buffer.data : (void *)(uintptr_t)rt_nothing;
  if (state->mode != RT_STATE_IN_PLACE)
    RT_TRY(copy_rows(context, i, buffer, past));
  if (clears_first(context, i))
    return NULL;
  row_array rows = get_cleared(context, i, buffer);
  return rows.count ? clear_rows(context, rows) : NULL;
}

void rt_states_open(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  for (uint32_t i = 0; i < desc->num_states; ++i) {
    const adze_state *row = &desc->states[i];
    if (row->kind != ADZE_STATE_ROWS && context->states[i].mode == RT_STATE_BOX)
      context->output_data[row->output] = context->states[i].box.data;
  }
}

adze_status rt_states_close(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  for (uint32_t i = 0; i < desc->num_states; ++i) {
    const adze_state *row = &desc->states[i];
    if (context->states[i].mode != RT_STATE_BOX)
      continue;
    row_array buffer = {context->states[i].box.data, 1, 1, 0, 1}, present;
    if (row->kind == ADZE_STATE_ROWS) {
      row_array past;
      uint64_t total, drop;
      get_rows(context, i, /*is_bound=*/true, &past, &present, &total, &drop);
      buffer = present;
      buffer.data = (char *)context->states[i].box.data + drop * past.bytes;
      buffer.pitch = (uint64_t)context->symbols[row->pitch_symbol];
    } else {
      present = buffer;
      const DLTensor *output = context->outputs[row->output];
      present.data = rt_tensor_data(output);
      present.bytes = buffer.bytes = rt_tensor_size(output);
    }
    RT_TRY(copy_rows(context, i, present, buffer));
  }
  return NULL;
}

void *rt_host_state(adze_exec *exec, uint32_t state) {
  adze_context *context = exec->context;
  const adze_module_desc *desc = context->module->desc;
  void *place = NULL;
  adze_status status =
      state < desc->num_states && desc->states[state].kind == ADZE_STATE_ROWS
          ? open_rows(context, state, &place)
          : rt_error(ADZE_INVALID_MODULE, "the module has no state %u", state);
  if (status)
    rt_exec_fail(exec, status);
  return place;
}

void rt_states_free(adze_context *context) {
  for (uint64_t i = 0; context->states && i < context->module->desc->num_states;
       ++i)
    if (context->states[i].box.data)
      rt_context_give(context, context->states[i].box.data,
                      context->states[i].box.bytes);
  free(context->states);
}
