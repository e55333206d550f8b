/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Range checks on CUDA devices. Values are compared on the device, so that the
 * host does not wait for them. The kernel is PTX text, which the driver
 * compiles for any device.
 * */
#include "CudaDriver.h"

/* One thread compares the values and stores the record of the fault, as
 * adze_fault lays it out. */
static const char check_range_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
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

adze_status rt_cuda_load_checks(const adze_module *module, rt_device *device) {
  if (!module->desc->num_faults)
    return NULL;
  CU_TRY(device->cu, module_load, (&device->checks, check_range_ptx));
  CU_TRY(device->cu, module_function,
         (&device->check_range, device->checks, "adze_check_range"));
  return NULL;
}

static adze_status launch_check(const rt_device_context *state, uint32_t fault,
                                const void *least, const void *greatest,
                                uint64_t bytes, int64_t low, int64_t high) {
  cu_address record = state->faults + fault * sizeof(adze_fault);
  void *arguments[] = {&record, (void *)&least, (void *)&greatest,
                       &bytes,  &low,           &high};
  CU_TRY(state->device->cu, launch,
         (state->device->check_range, 1, 1, 1, 1, 1, 1, 0, state->stream,
          arguments, NULL));
  return NULL;
}

int32_t rt_cuda_check_range(adze_exec *exec, uint32_t fault, const void *least,
                            const void *greatest, uint32_t bytes, int64_t low,
                            int64_t high) {
  adze_status status = launch_check(exec->context->on_device, fault, least,
                                    greatest, bytes, low, high);
  return status ? rt_exec_fail(exec, status) : 0;
}
