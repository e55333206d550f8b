// Kernels of rows: what two passes over a row need is kept in scratch.
// RUN: aopt %examples/kernels/softmax.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s
// RUN: aopt %examples/kernels/attention.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=ATTENTION

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x1024xf32>
// The greatest element: NaN passes.
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.maximumf {{.*}} fastmath<nsz> : vector<16xf32>
// The sum writes the exponentials as it goes ..
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: arith.addf
// .. and the last pass reads them.
// CHECK: arith.divf {{.*}} : f32
// CHECK: vector.load %[[KEPT]]
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK: vector.store

// Scores and probabilities of a block stay in scratch; maximum and sum of the
// eight rows are carried as scalars.
// ATTENTION-LABEL: func.func @attention(
// ATTENTION-DAG: memref.alloca() {{.*}} : memref<8x64xf32>
// ATTENTION: scf.for {{.*}} step %c64 iter_args
// ATTENTION: vector.fma {{.*}} : vector<16xf32>
// ATTENTION: arith.maximumf
// ATTENTION: math.exp
// ATTENTION: vector.fma {{.*}} : vector<16xf32>
