/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The hand-written module's kernels for a GPU; compiled to PTX by clang.
 */
#define KERNEL __attribute__((device_kernel)) void

typedef long long i64;

KERNEL add(const float *x, const float *y, const float *weight, float *sum,
           i64 batch, i64 len, i64 programs, i64 *faults) {
  (void)faults;
  i64 b = __nvvm_read_ptx_sreg_ctaid_x();
  (void)batch;
  (void)programs;
  for (i64 l = __nvvm_read_ptx_sreg_tid_x(); l < len;
       l += __nvvm_read_ptx_sreg_ntid_x())
    sum[b * len + l] = x[b * len + l] + y[b * len + l] * weight[0];
}

KERNEL rows(const float *sum, float *total, i64 batch, i64 len, i64 programs,
            i64 *faults) {
  i64 b = __nvvm_read_ptx_sreg_ctaid_x();
  (void)programs;
  float value = 0;
  if (__nvvm_read_ptx_sreg_tid_x() != 0)
    return;
  for (i64 l = 0; l < len; ++l)
    value += sum[b * len + l];
  total[b] = value;
  if (value > 1e30f) {
    faults[1] = b;
    faults[2] = batch;
    faults[0] = 1;
  }
}

KERNEL tiny(float *out, i64 batch, i64 len, i64 programs, i64 *faults) {
  (void)faults;
  i64 i = __nvvm_read_ptx_sreg_ctaid_x();
  volatile float small = 1.5e-38f, half = 0.5f, subnormal = 1e-40f;
  (void)batch;
  (void)len;
  (void)programs;
  if (__nvvm_read_ptx_sreg_tid_x() == 0)
    out[i] = i % 2 ? small * half : subnormal + subnormal;
}
