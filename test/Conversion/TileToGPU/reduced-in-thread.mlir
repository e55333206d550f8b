// RUN: aopt %s -tile-attach-targets=cuda=sm_90a --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s | FileCheck %s --check-prefix=EMULATED

// The sums of a short dim are scaled before they are added, so one thread holds all eight
// elements: threads exchange the scaled sums only.
// CHECK-LABEL: llvm.func @scaled(
// CHECK-COUNT-2: llvm.load %{{.*}} -> vector<4xf32>
// CHECK-NOT: gpu.shuffle
// CHECK: arith.mulf
// CHECK: gpu.shuffle
// EMULATED: scaled: 1 programs of {{.*}} agree
tile.kernel @scaled(%x: memref<4x64x8xf32>, %s: memref<4x64xf32>, %y: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0, 0] sizes [4, 64, 8] : memref<4x64x8xf32> -> tensor<4x64x8xf32>
  %b = tile.reduce add %t dim 2 : tensor<4x64x8xf32> -> tensor<4x64xf32>
  %f = tile.load %s[0, 0] sizes [4, 64] : memref<4x64xf32> -> tensor<4x64xf32>
  %c = arith.mulf %b, %f : tensor<4x64xf32>
  %d = tile.reduce add %c dim 1 : tensor<4x64xf32> -> tensor<4xf32>
  tile.store %d, %y[0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// Sums without further sums are divided among threads.
// CHECK-LABEL: llvm.func @lone(
// CHECK-COUNT-1: llvm.load %{{.*}} -> vector<4xf32>
// CHECK: gpu.shuffle
// CHECK: arith.mulf
// EMULATED: lone: 1 programs of {{.*}} agree
tile.kernel @lone(%x: memref<64x8xf32>, %s: memref<64xf32>, %y: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0] sizes [64, 8] : memref<64x8xf32> -> tensor<64x8xf32>
  %b = tile.reduce add %t dim 1 : tensor<64x8xf32> -> tensor<64xf32>
  %f = tile.load %s[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %c = arith.mulf %b, %f : tensor<64xf32>
  tile.store %c, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}
