// RUN: aopt %S/assemble.mlir --tile-specialize=params=BLOCK_M=64,BLOCK_N=64,BLOCK_K=32 | cuda-compile | FileCheck %s

// Operands are copied to shared memory, products stay in registers.
// CHECK: .extern .shared
// CHECK: .visible .entry gemm(
// CHECK: cp.async.ca.shared.global
// CHECK: cp.async.commit_group
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-32: fma.rn.f32
// CHECK: cp.async.wait_group 2
// CHECK: bar.sync
// CHECK: cp.async.c{{[ag]}}.shared.global
