// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: sed -e 's/\[#gpu\]/[#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 33554432]>]/' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=CPU

// For a GPU, a program has blocks of pixels of several rows; windows beyond the image
// read zeros. Strides of 2 are strides of the load.
// CHECK-LABEL: tile.kernel @conv
// CHECK-DAG: %[[Y:.*]] = tile.param "BLOCK_Y"
// CHECK-DAG: %[[X:.*]] = tile.param "BLOCK_X"
// CHECK-DAG: %[[C:.*]] = tile.param "BLOCK_C"
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[W:.*]] = tile.load {{.*}} sizes [%[[Y]], %[[X]], %[[C]]] strides [2, 2, 1]
// CHECK: tile.load {{.*}} dims [1, 0]
// CHECK: %[[P:.*]] = tile.reshape %[[W]]
// CHECK: tile.dot %[[P]]
// CHECK: tile.store {{.*}} : tensor<?x?x?xf16>, memref<2x28x28x128xf16>

// SCHEDULE: tile.kernel @conv
// SCHEDULE-SAME: tile.params.cuda = {BLOCK_C = 64 : i64, BLOCK_N = 64 : i64, BLOCK_X = 32 : i64, BLOCK_Y = 2 : i64}

// A box of the input is 64 channels of 2 x 32 pixels with stride 2; one of the filter, a
// panel of 64 outputs; one of the result, its block.
// GPU: llvm.func @conv
// GPU-SAME: adze.tensor_maps = [array<i64: 0, 6, 128, 64, 32, 2, 1, 1, 2, 2, 1>, array<i64: 1, 6, 128, 64, 64, 1, 1, 1, 1, 1, 1, 1, 1>, array<i64: 2, 6, 128, 64, 32, 2, 1, 1, 1, 1, 1>]
// GPU: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// GPU: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]

// A CPU has rows of pixels.
// CPU-NOT: BLOCK_Y

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<2x56x56x64xf16>) -> tensor<2x28x28x128xf16> {
    %w = graph.constant dense<1.0> : tensor<128x64x3x3xf16>
    %0 = host.launch @conv(%x, %w) : (tensor<2x56x56x64xf16>, tensor<128x64x3x3xf16>) -> tensor<2x28x28x128xf16>
    return %0 : tensor<2x28x28x128xf16>
  }
  func.func private @conv(%x: tensor<2x56x56x64xf16>, %w: tensor<128x64x3x3xf16>) -> tensor<2x28x28x128xf16> attributes {adze.kernel} {
    %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x56x56x64xf16>, tensor<128x64x3x3xf16>) -> tensor<2x28x28x128xf16>
    return %0 : tensor<2x28x28x128xf16>
  }
}

// The filter's type determines the unit, for any type of the sums. Elements of f32 have no
// unit, and are multiplied by threads; with few pixels rows of them are used.
// RUN: sed -e 's/tensor<2x28x28x128xf16>/tensor<2x28x28x128xf32>/g; s/strides = array/wide_result, strides = array/' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=WIDE
// RUN: sed -e 's/xf16>/xf32>/g' %s | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=THREADS
// RUN: sed -e 's/xf16>/xf32>/g; s/2x56x56x64/1x40x40x64/g; s/2x28x28x128/1x20x20x128/g' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// WIDE: tile.param "BLOCK_Y"
// THREADS: tile.kernel @conv
// THREADS-SAME: tile.params.cuda = {BLOCK_C = 64 : i64, BLOCK_N = 64 : i64, BLOCK_X = 32 : i64, BLOCK_Y = 1 : i64}, tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 128>, #tile.dim<"split", 1>]>
// WIDE: tile.store {{.*}} : tensor<?x?x?xf32>, memref<2x28x28x128xf32>

// With few channels, a stage has only the required size: rows of 32 bytes of the input.
// Channels that are not a multiple of 8 have no rows of 16 bytes.
// RUN: sed -e 's/56x64xf16/56x16xf16/g; s/128x64x3x3/128x16x3x3/g' %s | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=FEW
// RUN: sed -e 's/56x64xf16/56x16xf16/g; s/128x64x3x3/128x16x3x3/g' %s | aopt --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=ROWS
// RUN: sed -e 's/56x64xf16/56x24xf16/g; s/128x64x3x3/128x24x3x3/g' %s | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=MORE
// RUN: sed -e 's/56x64xf16/56x12xf16/g; s/128x64x3x3/128x12x3x3/g' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// FEW: #tile.dim<"k", 16>
// FEW-SAME: #tile.operand<0, copy = tma, swizzle = 32>
// ROWS: adze.tensor_maps = [array<i64: 0, 6, 32, 16,
// MORE: #tile.dim<"k", 32>

// tf32, if requested: elements are f32 in memory, and the maps round them. The channels
// of a filter are contiguous, as the instruction requires.
// DEFINE: %{tf32} = sed -e 's/xf16>/xf32>/g; s/f16 [*] f16 + f32, .64, 256, 16./tf32 * tf32 + f32, [64, 256, 8]/; s/{strides/{graph.precision = tf32, strides/' %s
// RUN: %{tf32} | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=TF32
// RUN: %{tf32} | aopt --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=TF32-MAPS
// TF32: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// TF32: tile.kernel @conv({{.*}}: memref<128x64x3x3xf32, #[[FILTER]]>
// TF32-SAME: BLOCK_C = 32 : i64
// TF32: tile.dot {{.*}} compute <tf32 * tf32 + f32>
// TF32-MAPS: adze.tensor_maps = [array<i64: 0, 11, 128, 32, {{.*}}>, array<i64: 1, 11, 128, 32, {{.*}}>, array<i64: 2, 7, 128, 32, {{.*}}>]
// TF32-MAPS: nvvm.wgmma.mma_async {{.*}}<tf32>

// Bytes, with sums of 32 bits.
// DEFINE: %{bytes} = sed -e 's/56x64xf16>/56x64xui8>/g; s/3x3xf16>/3x3xi8>/g; s/dense<1.0>/dense<1>/; s/128xf16>/128xi32>/g; s/f16 [*] f16 + f32, .64, 256, 16./ui8 * si8 + si32, [64, 256, 32]/' %s
// RUN: %{bytes} | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=BYTES
// RUN: %{bytes} | aopt --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=BYTES-MAPS
// BYTES: BLOCK_C = 64 : i64
// BYTES: tile.dot {{.*}} compute <ui8 * si8 + si32>
// BYTES-MAPS: adze.tensor_maps = [array<i64: 0, 0, 64, 64, {{.*}}>, array<i64: 1, 0, 64, 64, {{.*}}>, array<i64: 2, 3, 128, 32, {{.*}}>]
// BYTES-MAPS: nvvm.wgmma.mma_async {{.*}}<u8>
