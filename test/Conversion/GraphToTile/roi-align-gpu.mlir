// Pooling over regions of interest on GPUs: a program interpolates adjacent elements of one
// region. Its start and the width of its bins are scalars.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: sed -e 's/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=5,2 --int-limit=3 --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --split-input-file --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.kernel

// CHECK-LABEL: tile.kernel @mean(
// CHECK: tile.program_id(%c9)
// CHECK: %[[X:.*]] = arith.remui %{{.*}} : tensor<1024xi32>
// CHECK: memref.load %arg1[%{{.*}}, %c1] : memref<9x4xf32>
// CHECK: memref.load %arg2[%{{.*}}] : memref<9xi64>
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK-COUNT-4: tile.gather %{{.*}}[%{{.*}}] at %{{.*}} along 0 dims [-1] : memref<2080xf32>
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: tile.store %{{.*}} : tensor<1024xf32>, memref<9x420xf32>
// EMULATED: mean: 9 programs of {{.*}} agree
func.func private @mean(%x: tensor<2x10x8x13xf32>, %r: tensor<9x4xf32>, %b: tensor<9xi64>) -> tensor<9x10x6x7xf32> attributes {adze.kernel} {
  %y = graph.roi_align %x, %r, %b {samples = 2 : i64, scale = 3.0} : (tensor<2x10x8x13xf32>, tensor<9x4xf32>, tensor<9xi64>) -> tensor<9x10x6x7xf32>
  return %y : tensor<9x10x6x7xf32>
}

// -----

// The greatest corner of f16 samples, as many as a bin is wide; a dynamic number of regions
// and images, and several programs for a region.
#x = affine_map<()[s0, s1] -> (s1, 40, 8, 13)>
#r = affine_map<()[s0, s1] -> (s0, 4)>
#b = affine_map<()[s0, s1] -> (s0)>
#y = affine_map<()[s0, s1] -> (s0, 40, 6, 7)>
// CHECK-LABEL: tile.kernel @most(
// CHECK: %[[CEIL:.*]] = math.ceil %{{.*}} : f32
// CHECK: %[[N:.*]] = arith.fptosi
// CHECK: scf.for
// CHECK: arith.extf %{{.*}} : tensor<1024xf16> to tensor<1024xf32>
// CHECK: arith.maximumf %{{.*}} : tensor<1024xf32>
// EMULATED: most: 10 programs of {{.*}} agree
func.func private @most(%x: tensor<?x40x8x13xf16, #x>, %r: tensor<?x4xf16, #r>, %b: tensor<?xi64, #b>) -> tensor<?x40x6x7xf16, #y> attributes {adze.kernel} {
  %y = graph.roi_align %x, %r, %b {half_pixel = false, max = true, scale = 4.0} : (tensor<?x40x8x13xf16, #x>, tensor<?x4xf16, #r>, tensor<?xi64, #b>) -> tensor<?x40x6x7xf16, #y>
  return %y : tensor<?x40x6x7xf16, #y>
}
