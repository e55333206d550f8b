// RUN: aopt %S/assemble.mlir --tile-specialize=params=BLOCK_M=64,BLOCK_N=64,BLOCK_K=32 | cuda-compile | FileCheck %s

// Operands are copied to shared memory, products stay in registers.
// CHECK: .extern .shared
// CHECK: .visible .entry gemm(
// CHECK: ld.global.v4.b32
// CHECK: st.shared.v4.b32
// CHECK: bar.sync
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-64: fma.rn.f32
