// Convolutions keep one register block of accumulators through the loops over
// rows, columns and channels of the window.
// RUN: aopt %examples/kernels/conv3x3.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s
// RUN: aopt %examples/kernels/depthwise3x3.mlir -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=DEPTH

// CHECK-LABEL: func.func @conv3x3(
// The filter's layout permutes and packs it.
// CHECK-SAME: memref<2x3x3x64x32xf32>
// CHECK: scf.for {{.*}} step %c32
// CHECK: scf.for {{.*}} step %c7
// CHECK: scf.if
// CHECK-COUNT-3: scf.for {{.*}} iter_args
// CHECK-COUNT-14: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: } else {

// A stride is a step of the row index; the filter's row is shared.
// DEPTH-LABEL: func.func @depthwise3x3(
// DEPTH-SAME: memref<3x3x144xf32>
// DEPTH: scf.if
// DEPTH-COUNT-2: scf.for {{.*}} iter_args
// DEPTH: affine.apply #{{.*}}
// DEPTH: vector.load %{{.*}} : memref<3x3x144xf32>, vector<16xf32>
// DEPTH: math.fma {{.*}} : vector<16xf32>
// DEPTH: } else {
