/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs the host program, and the kernels that it launches on the CPU.
 */
#include "Calls.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The work (FLOPs + bytes, about five microseconds of one core) below which
 * waking other threads takes longer than it saves, as does a barrier after a
 * step. */
#define WORK_FOR_TWO 50000

/* ---- One launch ---------------------------------------------------------- */

typedef struct {
  adze_kernel_fn body;
  void *const *ptrs;
  const int64_t *symbols;
  int64_t programs;
  int64_t lanes;
  char *scratch;
  uint64_t scratch_bytes;
  adze_fault *faults;
  uint32_t abi; /* the module's */
  rt_steps *steps;
} launch_job;

static void *scratch_of(const launch_job *job, int32_t lane) {
  return job->scratch + (uint64_t)lane * job->scratch_bytes;
}

static void fence_streams(void) {
#ifdef __x86_64__
  __builtin_ia32_sfence(); /* non-temporal stores are ordered by nothing else
                            */
#endif
}

static void run_programs(void *data, int32_t lane, int64_t begin, int64_t end) {
  launch_job *job = data;
  void *scratch = scratch_of(job, lane);
  if (job->abi == 1)
    ((adze_kernel_fn_1)(void (*)(void))job->body)(job->ptrs, job->symbols,
                                                  begin, end, scratch);
  else
    job->body(job->ptrs, job->symbols, begin, end, scratch, job->faults);
  fence_streams();
}

static void run_lane(void *data, int32_t lane) {
  launch_job *job = data;
  uint64_t state = rt_float_state_enter();
  rt_steps_run(job->steps, lane);
  rt_float_state_leave(state);
}

static void run_lanes(void *data, int64_t begin, int64_t end) {
  for (int64_t lane = begin; lane < end; ++lane)
    run_lane(data, (int32_t)lane);
}

static void run_alone(launch_job *job) {
  uint64_t state = rt_float_state_enter();
  run_programs(job, 0, 0, job->programs);
  rt_float_state_leave(state);
}

static int64_t value_of(adze_formula_fn formula, const int64_t *symbols) {
  return formula ? formula(symbols) : 0;
}

/* `programs` is the number in each step. If steps are too small for two lanes,
 * their groups may still be large enough over all steps: `divides` is false
 * then. */
static int64_t lanes_for(const adze_context *context, uint32_t kernel,
                         int64_t programs, int64_t steps, int64_t groups,
                         bool *divides) {
  const adze_module_kernel *info = &context->module->desc->kernels[kernel];
  int64_t lanes = context->lanes < programs ? context->lanes : programs;
  *divides = true;
  if (lanes < 2 || !info->flops || !info->bytes_read || !info->bytes_written)
    return lanes;
  int64_t work = value_of(info->flops, context->symbols) +
                 value_of(info->bytes_read, context->symbols) +
                 value_of(info->bytes_written, context->symbols);
  if (work / steps >= WORK_FOR_TWO)
    return lanes;
  *divides = false;
  if (work < WORK_FOR_TWO || groups < 2)
    return 1;
  return groups < lanes ? groups : lanes;
}

/* Returns the scratch memory of the launch: the given one, that of the
 * workspace, or a larger one for sizes that were computed during the run. */
static adze_status find_scratch(adze_context *context,
                                const adze_cpu_kernel *code,
                                const rt_scratch *scratch, launch_job *job) {
  const adze_module *module = context->module;
  if (scratch) {
    job->scratch = scratch->data;
    job->scratch_bytes = scratch->bytes;
    return NULL;
  }
  job->scratch = (char *)context->workspace + rt_align_up(context->needs.arena);
  job->scratch_bytes = context->needs.scratch;
  int64_t bytes = value_of(code->scratch_bytes, context->symbols);
  if (!module->desc->num_data_symbols || bytes <= (int64_t)job->scratch_bytes)
    return NULL;
  uint64_t each = rt_align_up((uint64_t)bytes), all;
  rt_box *box = &context->boxes[module->desc->num_boxes];
  if (__builtin_mul_overflow(each, (uint64_t)job->lanes, &all))
    return rt_out_of_memory(UINT64_MAX);
  RT_TRY(rt_box_grow(context, box, all, 0));
  job->scratch = box->data;
  job->scratch_bytes = each;
  return NULL;
}

static void run_job(adze_context *context, launch_job *job, int64_t steps,
                    int64_t groups, bool divides) {
  const adze_options *options = &context->module->options;
  if (job->lanes < 2) {
    run_alone(job);
    return;
  }
  rt_steps schedule;
  schedule.run = run_programs;
  schedule.data = job;
  rt_steps_init(&schedule, job->programs, steps, groups, job->lanes, divides);
  job->steps = &schedule;
  if (options->parallel_for)
    options->parallel_for(options->parallel_user, job->lanes, run_lanes, job);
  else
    rt_pool_run(context->pool, (int32_t)job->lanes, run_lane, job);
}

adze_status rt_launch_on_cpu(adze_context *context, uint32_t kernel,
                             void *const *ptrs, int64_t steps, int64_t groups,
                             const rt_scratch *scratch) {
  const adze_module *module = context->module;
  const adze_cpu_kernel *code = &module->variant->kernels[kernel];
  int64_t programs = code->programs(context->symbols);
  if (programs <= 0)
    return NULL;
  if (steps < 1 || programs % steps != 0)
    steps = 1;
  if (groups < 1 || programs / steps % groups != 0)
    groups = 1;
  bool divides;
  int64_t lanes =
      lanes_for(context, kernel, programs / steps, steps, groups, &divides);
  launch_job job = {
      .body = code->body,
      .ptrs = ptrs,
      .symbols = context->symbols,
      .programs = programs,
      .lanes = lanes,
      .faults = context->faults ? context->faults +
                                      module->desc->kernels[kernel].first_fault
                                : NULL,
      .abi = module->desc->abi,
  };
  RT_TRY(find_scratch(context, code, scratch, &job));
  double begin = context->profile.on ? rt_now_us() : 0;
  run_job(context, &job, steps, groups, divides);
  if (context->profile.on)
    rt_profile_add(context, kernel, begin, rt_now_us() - begin, programs,
                   (int32_t)job.lanes);
  return rt_faults_take_of(context, &module->desc->kernels[kernel]);
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

static int32_t host_launch_groups(adze_exec *exec, uint32_t kernel,
                                  void *const *ptrs, int64_t steps,
                                  int64_t groups) {
  adze_context *context = exec->context;
  if (kernel >= context->module->desc->num_kernels)
    return rt_exec_fail(exec,
                        rt_error(ADZE_INVALID_MODULE,
                                 "expected a kernel below %u, but got %u",
                                 context->module->desc->num_kernels, kernel));
  if (context->on_device)
    return rt_cuda_launch(exec, kernel, ptrs, steps, groups);
  adze_status status =
      rt_launch_on_cpu(context, kernel, ptrs, steps, groups, NULL);
  return status ? rt_exec_fail(exec, status) : 0;
}

static int32_t host_launch_steps(adze_exec *exec, uint32_t kernel,
                                 void *const *ptrs, int64_t steps) {
  return host_launch_groups(exec, kernel, ptrs, steps, 1);
}

static int32_t host_launch(adze_exec *exec, uint32_t kernel,
                           void *const *ptrs) {
  return host_launch_groups(exec, kernel, ptrs, 1, 1);
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
  if (!block) {
    rt_exec_fail(exec, rt_out_of_memory(sizeof(*block)));
    return NULL;
  }
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

static const void *host_computed(adze_exec *exec) { return exec->computed; }

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
                                           host_launch_steps,
                                           host_launch_groups,
                                           rt_check_range,
                                           rt_host_state,
                                           rt_print,
                                           host_computed};

const _Alignas(RT_ALIGNMENT) char rt_nothing[RT_ALIGNMENT];

adze_status rt_execute(adze_context *context, const void *weights,
                       const void *computed) {
  adze_exec exec = {.context = context, .computed = computed};
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
