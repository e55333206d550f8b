// Kernels on rows: values of a row that two passes use are kept in scratch.
// RUN: aopt %examples/kernels/softmax.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s
// RUN: aopt %examples/kernels/attention.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=ATTENTION

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x1024xf32>
// Rows end with the memory: none of them is checked.
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c8
// CHECK: scf.for {{.*}} to %[[ROWS]] step %c1 {
// CHECK-NOT: scf.if
// The maximum: NaN need not propagate.
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.cmpf ogt, {{.*}} : vector<16xf32>
// CHECK: arith.select
// The sum stores the exponentials during its pass, and prefetches: the destination row
// and the next row ..
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK-COUNT-4: memref.prefetch %arg1[{{.*}}], write
// CHECK-COUNT-4: memref.prefetch %arg0[{{.*}}], read
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: arith.addf
// .. and the last pass reads them.
// CHECK: vector.load %[[KEPT]]
// CHECK-NOT: math.exp
// CHECK: arith.divf {{.*}} : f32
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
