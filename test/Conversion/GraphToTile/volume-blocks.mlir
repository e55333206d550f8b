// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=RESULT
// RUN: sed -e 's/tensor<1x4x7x9x32xf16>/tensor<?x4x7x9x32xf16, #in>/g; s/tensor<1x2x4x9x64xf16>/tensor<?x2x4x9x64xf16, #out>/g' %s | aopt --convert-graph-to-tile | FileCheck %s
// RUN: sed -e 's/x7x9x32xf16/x7x9x12xf16/g; s/64x32x3/64x12x3/g' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=LINES

// A convolution of volumes for a GPU. A program has a block of pixels at one depth, and
// loops over the window's depth, rows and columns. Planes beyond the volume are zeros.
// CHECK-LABEL: tile.kernel @conv
// CHECK-DAG: %[[Y:.*]] = tile.param "BLOCK_Y"
// CHECK-DAG: %[[X:.*]] = tile.param "BLOCK_X"
// CHECK-COUNT-4: scf.for
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] sizes [%[[Y]], %[[X]], %{{.*}}] strides [2, 1, 1]
// CHECK: tile.load %arg1[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] {{.*}} dims [1, 0]
// CHECK: tile.dot
// CHECK: tile.store

// A tensor map has five dims: those of the volume, and those of a filter without panels.
// GPU: llvm.func @conv
// GPU-SAME: adze.tensor_maps = [array<i64: 0, 6, 64, 32, {{[0-9]+}}, {{[0-9]+}}, 1, 1, 1, 1, {{[12]}}, 1, 1>, array<i64: 1, 6, 128, 64, 32, 1, 1, 1,
// RESULT: conv: {{.*}} agree

// Pixels of 24 bytes are no multiple of 16.
// LINES-NOT: BLOCK_Y

#in = affine_map<()[s0] -> (s0, 4, 7, 9, 32)>
#out = affine_map<()[s0] -> (s0, 2, 4, 9, 64)>
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<1x4x7x9x32xf16>) -> tensor<1x2x4x9x64xf16> {
    %w = graph.constant dense<0.5> : tensor<64x32x3x3x3xf16>
    %0 = host.launch @conv(%x, %w) : (tensor<1x4x7x9x32xf16>, tensor<64x32x3x3x3xf16>) -> tensor<1x2x4x9x64xf16>
    return %0 : tensor<1x2x4x9x64xf16>
  }
  func.func private @conv(%x: tensor<1x4x7x9x32xf16>, %w: tensor<64x32x3x3x3xf16>) -> tensor<1x2x4x9x64xf16> attributes {adze.kernel} {
    %0 = graph.conv %x, %w {strides = array<i64: 2, 2, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x4x7x9x32xf16>, tensor<64x32x3x3x3xf16>) -> tensor<1x2x4x9x64xf16>
    return %0 : tensor<1x2x4x9x64xf16>
  }
}
