// The register block of a GEMM: 8 rows of 2 vectors with AVX-512, 6 with AVX2; A is read
// by scalar broadcasts, B by vectors from its panel; each of the existing blocks of rows
// prefetches a part of the next panel.
// RUN: aopt %examples/kernels/gemm-bias-gelu.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s
// RUN: aopt %examples/kernels/gemm-bias-gelu.mlir -tile-attach-targets="cpu=x86-64-v3 caches=1M,32M" -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=AVX2

// The grid: ceil(m / 128) x 4.
// CHECK-LABEL: func.func @gemm_bias_gelu_programs(
// CHECK-SAME: memref<32x1024x32xf32>
// CHECK: %[[GRID:.*]] = arith.ceildivui
// CHECK: arith.muli %[[GRID]], %{{.*}} : index

// CHECK-LABEL: func.func @gemm_bias_gelu(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// Columns outside of rows, then the kernel's own k loop, then the steps of k.
// CHECK: scf.for {{.*}} step %c32
// Whole blocks of rows run unchecked.
// CHECK: scf.for {{.*}} step %c8
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} step %c256 iter_args
// CHECK: scf.for {{.*}} step %c1 iter_args
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-2: vector.load %{{.*}} : memref<32x1024x32xf32>, vector<16xf32>
// CHECK-COUNT-8: memref.load
// CHECK-COUNT-16: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// The epilogue works on the accumulators.
// CHECK-COUNT-16: math.erf {{.*}} : vector<16xf32>
// CHECK-COUNT-16: vector.store
// The remainder reads the last row of A instead of those beyond it, which are not stored,
// and may have to prefetch the whole next panel; half a block does so for half as many.
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-2: memref.prefetch
// CHECK: arith.minsi
// CHECK-NOT: vector.maskedload
// CHECK-COUNT-16: vector.fma
// CHECK: scf.if
// CHECK: vector.store
// CHECK: } else {
// CHECK-COUNT-2: memref.prefetch
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield

// AVX2-LABEL: func.func @gemm_bias_gelu(
// AVX2: scf.for {{.*}} step %c16
// AVX2: scf.for {{.*}} step %c6
// AVX2-COUNT-12: vector.fma {{.*}} : vector<8xf32>
// AVX2-NOT: vector.fma
// AVX2: scf.yield
