/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Kernels of the run time on CUDA devices: range checks, whose values are
 * compared on the device, so that the host does not wait for them, and the
 * clearing of new rows of states. They are PTX text, which the driver compiles
 * for any device.
 * */
#include "CudaDriver.h"

#define PTX_HEADER                                                             \
  ".version 6.0\n"                                                             \
  ".target sm_50\n"                                                            \
  ".address_size 64\n"

/* One thread compares the values and stores the record of the fault, as
 * adze_fault lays it out. */
static const char check_range_ptx[] = PTX_HEADER
    ".visible .entry adze_check_range(\n"
    "  .param .u64 record, .param .u64 least, .param .u64 greatest,\n"
    "  .param .u64 bytes, .param .s64 low, .param .s64 high) {\n"
    "  .reg .pred %narrow, %below, %above;\n"
    "  .reg .u64 %bytes;\n"
    "  .reg .u64 %record, %at_least, %at_greatest;\n"
    "  .reg .s64 %least, %greatest, %low, %high;\n"
    "  ld.param.u64 %record, [record];\n"
    "  ld.param.u64 %at_least, [least];\n"
    "  ld.param.u64 %at_greatest, [greatest];\n"
    "  ld.param.u64 %bytes, [bytes];\n"
    "  ld.param.s64 %low, [low];\n"
    "  ld.param.s64 %high, [high];\n"
    "  cvta.to.global.u64 %record, %record;\n"
    "  cvta.to.global.u64 %at_least, %at_least;\n"
    "  cvta.to.global.u64 %at_greatest, %at_greatest;\n"
    "  setp.eq.u64 %narrow, %bytes, 4;\n"
    "  @%narrow ld.global.s32 %least, [%at_least];\n"
    "  @%narrow ld.global.s32 %greatest, [%at_greatest];\n"
    "  @!%narrow ld.global.s64 %least, [%at_least];\n"
    "  @!%narrow ld.global.s64 %greatest, [%at_greatest];\n"
    "  setp.lt.s64 %below, %least, %low;\n"
    "  setp.ge.s64 %above, %greatest, %high;\n"
    "  @!%below mov.s64 %least, %greatest;\n"
    "  or.pred %above, %above, %below;\n"
    "  @!%above bra DONE;\n"
    "  st.global.s64 [%record+8], %least;\n"
    "  st.global.s64 [%record+16], %low;\n"
    "  st.global.s64 [%record+24], %high;\n"
    "  st.global.u64 [%record], 1;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

/* Blocks with index y clear entry y of the table of rt_equal_pieces, in the
 * widest elements of which addresses and sizes are multiples. */
static const char clear_ptx[] = PTX_HEADER
    ".visible .entry adze_clear(.param .align 8 .b8 table[2048]) {\n"
    "  .reg .pred %odd, %done;\n"
    "  .reg .u32 %a, %b, %c, %shift;\n"
    "  .reg .u64 %entry, %data, %step, %bytes, %count, %all, %mask;\n"
    "  .reg .u64 %units, %at, %stride, %piece, %place;\n"
    "  mov.u32 %a, %ctaid.y;\n"
    "  mul.wide.u32 %at, %a, 32;\n"
    "  mov.u64 %entry, table;\n"
    "  add.u64 %entry, %entry, %at;\n"
    "  ld.param.u64 %data, [%entry];\n"
    "  ld.param.u64 %step, [%entry+8];\n"
    "  ld.param.u64 %bytes, [%entry+16];\n"
    "  ld.param.u64 %count, [%entry+24];\n"
    "  cvta.to.global.u64 %data, %data;\n"
    "  or.b64 %all, %data, %step;\n"
    "  or.b64 %all, %all, %bytes;\n"
    "  mov.u32 %shift, 4;\n"
    "  and.b64 %mask, %all, 15;\n"
    "  setp.ne.u64 %odd, %mask, 0;\n"
    "  @%odd mov.u32 %shift, 2;\n"
    "  and.b64 %mask, %all, 3;\n"
    "  setp.ne.u64 %odd, %mask, 0;\n"
    "  @%odd mov.u32 %shift, 0;\n"
    "  shr.u64 %units, %bytes, %shift;\n"
    "  mul.lo.u64 %all, %units, %count;\n"
    "  mov.u32 %a, %ctaid.x;\n"
    "  mov.u32 %b, %ntid.x;\n"
    "  mov.u32 %c, %tid.x;\n"
    "  mul.wide.u32 %at, %a, %b;\n"
    "  cvt.u64.u32 %place, %c;\n"
    "  add.u64 %at, %at, %place;\n"
    "  mov.u32 %a, %nctaid.x;\n"
    "  mul.wide.u32 %stride, %a, %b;\n"
    "  mov.u32 %a, 0;\n"
    "NEXT:\n"
    "  setp.ge.u64 %done, %at, %all;\n"
    "  @%done bra DONE;\n"
    "  div.u64 %piece, %at, %units;\n"
    "  mul.lo.u64 %place, %piece, %units;\n"
    "  sub.u64 %place, %at, %place;\n"
    "  shl.b64 %place, %place, %shift;\n"
    "  mad.lo.u64 %place, %piece, %step, %place;\n"
    "  add.u64 %place, %data, %place;\n"
    "  setp.eq.u32 %done, %shift, 4;\n"
    "  @%done st.global.v4.u32 [%place], {%a, %a, %a, %a};\n"
    "  setp.eq.u32 %done, %shift, 2;\n"
    "  @%done st.global.u32 [%place], %a;\n"
    "  setp.eq.u32 %done, %shift, 0;\n"
    "  @%done st.global.u8 [%place], %a;\n"
    "  add.u64 %at, %at, %stride;\n"
    "  bra NEXT;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

static adze_status load(const rt_device *device, const char *text,
                        const char *name, cu_module *code,
                        cu_function *function) {
  CU_TRY(device->cu, module_load, (code, text));
  CU_TRY(device->cu, module_function, (function, *code, name));
  return NULL;
}

adze_status rt_cuda_load_kernels(const adze_module *module, rt_device *device) {
  if (module->desc->num_faults)
    RT_TRY(load(device, check_range_ptx, "adze_check_range", &device->checks,
                &device->check_range));
  if (module->desc->num_states)
    RT_TRY(load(device, clear_ptx, "adze_clear", &device->clearing,
                &device->clear));
  return NULL;
}

adze_status rt_cuda_clear(adze_context *context, const rt_equal_pieces *pieces,
                          uint32_t count) {
  enum { THREADS = 256, MOST_BLOCKS = 64, WIDEST = 16 };
  const rt_device_context *state = context->on_device;
  rt_equal_pieces table[RT_MOST_CLEARED] = {0};
  uint64_t blocks = 1;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t units = pieces[i].bytes * pieces[i].count / WIDEST;
    table[i] = pieces[i];
    if (units / THREADS + 1 > blocks)
      blocks = units / THREADS + 1;
  }
  if (blocks > MOST_BLOCKS)
    blocks = MOST_BLOCKS;
  void *arguments[] = {table};
  rt_launch launch = {.function = state->device->clear,
                      .grid = {(unsigned)blocks, count},
                      .block_threads = THREADS,
                      .cluster = 1,
                      .arguments = arguments,
                      .count = 1,
                      .wide_bytes = sizeof(table)};
  return count ? rt_cuda_submit(state, &launch) : NULL;
}

static adze_status launch_check(const rt_device_context *state, uint32_t fault,
                                const void *least, const void *greatest,
                                uint64_t bytes, int64_t low, int64_t high) {
  adze_fault *record = state->faults + fault;
  void *arguments[] = {&record, (void *)&least, (void *)&greatest,
                       &bytes,  &low,           &high};
  rt_launch launch = {.function = state->device->check_range,
                      .grid = {1, 1},
                      .block_threads = 1,
                      .cluster = 1,
                      .arguments = arguments,
                      .count = 6,
                      .first_wide = 6};
  return rt_cuda_submit(state, &launch);
}

int32_t rt_cuda_check_range(adze_exec *exec, uint32_t fault, const void *least,
                            const void *greatest, uint32_t bytes, int64_t low,
                            int64_t high) {
  adze_status status = launch_check(exec->context->on_device, fault, least,
                                    greatest, bytes, low, high);
  return status ? rt_exec_fail(exec, status) : 0;
}
