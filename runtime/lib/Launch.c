/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs the host program, and the kernels that it launches on the CPU.
 */
#include "Calls.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Below this much work (FLOPs + bytes) waking other threads costs more than
 * they bring: about five microseconds of one core. */
#define WORK_FOR_TWO 50000

/* ---- One launch ---------------------------------------------------------- */

/* Of a step: as many pieces at most. */
#define MOST_PIECES 64

typedef struct {
  adze_kernel_fn body;
  void *const *ptrs;
  const int64_t *symbols;
  int64_t programs;
  int64_t lanes;
  char *scratch;
  uint64_t scratch_bytes;
  /* Steps: which programs are one, how many pieces, how many were done of all
   * steps, and which step each piece takes next. Without: the next program. */
  int64_t steps, pieces;
  _Alignas(64) _Atomic int64_t next;
  _Alignas(64) _Atomic int64_t piece_steps[MOST_PIECES];
} launch_job;

static void *scratch_of(const launch_job *job, int32_t lane) {
  return job->scratch + (uint64_t)lane * job->scratch_bytes;
}

static void fence_streams(void) {
#ifdef __x86_64__
  __builtin_ia32_sfence(); /* stores past the caches are ordered by nothing else
                            */
#endif
}

/* Takes ever smaller pieces of what is left, so that lanes end together. What
 * a program computes does not depend on the piece it is in. */
static void run_lane(void *data, int32_t lane) {
  launch_job *job = data;
  void *scratch = scratch_of(job, lane);
  uint64_t state = rt_float_state_enter();
  for (;;) {
    int64_t seen = atomic_load_explicit(&job->next, memory_order_relaxed);
    int64_t piece = (job->programs - seen) / (2 * job->lanes);
    if (piece < 1)
      piece = 1;
    if (job->lanes == 1)
      piece = job->programs;
    int64_t begin = atomic_fetch_add(&job->next, piece);
    if (begin >= job->programs)
      break;
    int64_t left = job->programs - begin;
    job->body(job->ptrs, job->symbols, begin,
              begin + (piece < left ? piece : left), scratch);
  }
  fence_streams();
  rt_float_state_leave(state);
}

static void run_lanes(void *data, int64_t begin, int64_t end) {
  for (int64_t lane = begin; lane < end; ++lane)
    run_lane(data, (int32_t)lane);
}

/* The pieces of one step that nobody has taken, from the lane's own on: so a
 * core finds in its caches what it read in the step before. */
static void run_step(launch_job *job, int64_t step, int32_t lane) {
  int64_t first = lane * job->pieces / job->lanes;
  int64_t programs = job->programs / job->steps;
  for (int64_t i = 0; i < job->pieces; ++i) {
    int64_t piece = (first + i) % job->pieces, seen = step;
    if (!atomic_compare_exchange_strong(&job->piece_steps[piece], &seen,
                                        step + 1))
      continue;
    int64_t begin = step * programs + programs * piece / job->pieces,
            end = step * programs + programs * (piece + 1) / job->pieces;
    job->body(job->ptrs, job->symbols, begin, end, scratch_of(job, lane));
    fence_streams();
    atomic_fetch_add_explicit(&job->next, 1, memory_order_release);
  }
}

/* A lane only ever waits for pieces that another one is working on: one that
 * comes late, or never, holds up nobody. */
static void run_stepped_lane(void *data, int32_t lane) {
  enum { patience = 4096 };
  launch_job *job = data;
  uint64_t state = rt_float_state_enter();
  for (int64_t step = 0; step < job->steps;) {
    run_step(job, step, lane);
    for (int64_t spins = 0;; ++spins) {
      int64_t done = atomic_load_explicit(&job->next, memory_order_acquire);
      if (done / job->pieces > step) {
        step = done / job->pieces;
        break;
      }
      if (spins < patience)
        rt_relax();
      else
        sched_yield();
    }
  }
  rt_float_state_leave(state);
}

static void run_stepped_lanes(void *data, int64_t begin, int64_t end) {
  for (int64_t lane = begin; lane < end; ++lane)
    run_stepped_lane(data, (int32_t)lane);
}

static int64_t value_of(adze_formula_fn formula, const int64_t *symbols) {
  return formula ? formula(symbols) : 0;
}

/* `programs` and the work of each step. */
static int64_t lanes_for(const adze_context *context, uint32_t kernel,
                         int64_t programs, int64_t steps) {
  const adze_module_kernel *info = &context->module->desc->kernels[kernel];
  int64_t lanes = context->lanes < programs ? context->lanes : programs;
  if (lanes < 2 || !info->flops || !info->bytes_read || !info->bytes_written)
    return lanes;
  int64_t work = value_of(info->flops, context->symbols) +
                 value_of(info->bytes_read, context->symbols) +
                 value_of(info->bytes_written, context->symbols);
  return work / steps < WORK_FOR_TWO ? 1 : lanes;
}

/* Scratch memory beyond the workspace's: for sizes that the run has told. */
static adze_status extend_scratch(adze_context *context,
                                  const adze_cpu_kernel *code,
                                  launch_job *job) {
  const adze_module *module = context->module;
  int64_t bytes = value_of(code->scratch_bytes, context->symbols);
  if (!module->num_data_symbols || bytes <= (int64_t)job->scratch_bytes)
    return NULL;
  uint64_t each = rt_align_up((uint64_t)bytes), all;
  rt_box *box = &context->boxes[module->num_boxes];
  if (__builtin_mul_overflow(each, (uint64_t)job->lanes, &all))
    return rt_out_of_memory(UINT64_MAX);
  RT_TRY(rt_box_grow(context, box, all, 0));
  job->scratch = box->data;
  job->scratch_bytes = each;
  return NULL;
}

static void run_job(adze_context *context, launch_job *job) {
  const adze_options *options = &context->module->options;
  bool stepped = job->steps > 1 && job->lanes > 1;
  if (job->lanes > 1 && options->parallel_for)
    options->parallel_for(options->parallel_user, job->lanes,
                          stepped ? run_stepped_lanes : run_lanes, job);
  else
    rt_pool_run(context->pool, (int32_t)job->lanes,
                stepped ? run_stepped_lane : run_lane, job);
}

adze_status rt_launch_on_cpu(adze_context *context, uint32_t kernel,
                             void *const *ptrs, int64_t steps) {
  const adze_module *module = context->module;
  const adze_cpu_kernel *code = &module->variant->kernels[kernel];
  int64_t programs = code->programs(context->symbols);
  if (programs <= 0)
    return NULL;
  if (steps < 1 || programs % steps != 0)
    steps = 1;
  int64_t lanes = lanes_for(context, kernel, programs / steps, steps);
  launch_job job = {
      .body = code->body,
      .ptrs = ptrs,
      .symbols = context->symbols,
      .programs = programs,
      .lanes = lanes,
      .scratch = (char *)context->workspace + rt_align_up(context->needs.arena),
      .scratch_bytes = context->needs.scratch,
      .steps = steps,
      .pieces = lanes * 8 < MOST_PIECES ? lanes * 8 : MOST_PIECES,
  };
  if (job.pieces > programs / steps)
    job.pieces = programs / steps;
  atomic_init(&job.next, 0);
  for (int64_t i = 0; steps > 1 && i < job.pieces; ++i)
    atomic_init(&job.piece_steps[i], 0);
  RT_TRY(extend_scratch(context, code, &job));
  double begin = context->profile.on ? rt_now_us() : 0;
  run_job(context, &job);
  if (context->profile.on)
    rt_profile_add(context, kernel, begin, rt_now_us() - begin, programs,
                   (int32_t)job.lanes);
  return NULL;
}

/* ---- What the host program calls ------------------------------------------
 */

int32_t rt_exec_fail(adze_exec *exec, adze_status status) {
  int32_t code = (int32_t)adze_status_code(status);
  if (exec->status)
    adze_status_free(status);
  else
    exec->status = status;
  return code;
}

static int32_t host_launch_steps(adze_exec *exec, uint32_t kernel,
                                 void *const *ptrs, int64_t steps) {
  adze_context *context = exec->context;
  if (kernel >= context->module->desc->num_kernels)
    return rt_exec_fail(exec,
                        rt_error(ADZE_INVALID_MODULE,
                                 "expected a kernel below %u, but got %u",
                                 context->module->desc->num_kernels, kernel));
  if (context->on_device)
    return rt_cuda_launch(exec, kernel, ptrs, steps);
  adze_status status = rt_launch_on_cpu(context, kernel, ptrs, steps);
  return status ? rt_exec_fail(exec, status) : 0;
}

static int32_t host_launch(adze_exec *exec, uint32_t kernel,
                           void *const *ptrs) {
  return host_launch_steps(exec, kernel, ptrs, 1);
}

static int32_t host_copy(adze_exec *exec, void *to, const void *from,
                         uint64_t bytes) {
  if (exec->context->on_device)
    return rt_cuda_copy(exec, to, from, bytes);
  memmove(to, from, bytes);
  return 0;
}

static void *host_alloc(adze_exec *exec, uint64_t bytes) {
  rt_block *block = calloc(1, sizeof(*block));
  if (!block)
    return NULL;
  adze_status status = rt_context_take(exec->context, bytes, &block->data);
  if (status) {
    rt_exec_fail(exec, status);
    free(block);
    return NULL;
  }
  block->bytes = bytes;
  block->next = exec->blocks;
  exec->blocks = block;
  return block->data;
}

static void give_blocks(adze_exec *exec) {
  if (exec->blocks && exec->context->on_device)
    rt_cuda_wait(exec->context);
  while (exec->blocks) {
    rt_block *block = exec->blocks;
    exec->blocks = block->next;
    rt_context_give(exec->context, block->data, block->bytes);
    free(block);
  }
}

static int32_t host_fail(adze_exec *exec, const char *node,
                         const char *message) {
  return rt_exec_fail(exec,
                      rt_error(ADZE_RUN_ERROR, "node '%s': %s",
                               node ? node : "", message ? message : "failed"));
}

static const adze_host_table host_table = {sizeof(adze_host_table),
                                           ADZE_MODULE_ABI,
                                           host_launch,
                                           host_copy,
                                           host_alloc,
                                           host_fail,
                                           rt_data_read,
                                           rt_data_write,
                                           rt_data_bind,
                                           rt_data_reserve,
                                           rt_data_output,
                                           rt_host_call,
                                           rt_host_fetch,
                                           host_launch_steps};

const _Alignas(RT_ALIGNMENT) char rt_nothing[RT_ALIGNMENT];

adze_status rt_execute(adze_context *context, const void *weights) {
  adze_exec exec = {context, NULL, NULL};
  const adze_module_desc *desc = context->module->desc;
  void *arena = context->workspace;
  if (!arena && !context->on_device)
    arena = (void *)rt_nothing;
  double begin = context->profile.on ? rt_now_us() : 0;
  int32_t code =
      desc->run(&host_table, &exec, context->input_data, context->output_data,
                arena, weights, context->symbols);
  give_blocks(&exec);
  if (context->profile.on)
    rt_profile_add(context, RT_WHOLE_RUN, begin, rt_now_us() - begin, 0,
                   context->lanes);
  if (code == ADZE_UNSUPPORTED && !exec.status)
    exec.status = rt_error(ADZE_UNSUPPORTED,
                           "the module needs a newer run time than this one");
  if (code && !exec.status)
    exec.status = rt_error(ADZE_RUN_ERROR, "the run failed with code %d", code);
  return exec.status;
}
