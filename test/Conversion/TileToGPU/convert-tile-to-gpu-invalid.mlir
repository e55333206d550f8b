// RUN: aopt %s --convert-tile-to-gpu --verify-diagnostics | FileCheck %s

// Kernels that are unsupported on GPUs stay for the host.
// CHECK-NOT: gpu.module
// CHECK: tile.kernel @unbound
// expected-remark@below {{kernel has no GPU form as tiles: expected bound parameters}}
tile.kernel @unbound(%x: memref<16xf32>) {
  %b = tile.param "B" : index
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: expected memref arguments only}}
tile.kernel @scalar(%x: f32) {
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: expected at most 232448 bytes of shared memory, but got 287744}}
tile.kernel @large(%x: memref<256x256xf32>, %y: memref<256x256xf32>) {
  %t = tile.load %x[0, 0] sizes [256, 256] : memref<256x256xf32> -> tensor<256x256xf32>
  %s = tile.reduce add %t dim 0 : tensor<256x256xf32> -> tensor<256xf32>
  %f0 = arith.constant 0.0 : f32
  %z = tile.broadcast %f0 to [256, 256] : f32 -> tensor<256x256xf32>
  %b = tile.broadcast %s to [256, 256] dims [0] : tensor<256xf32> -> tensor<256x256xf32>
  %d = tile.dot %b, %t, %z : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  tile.store %d, %y[0, 0] : tensor<256x256xf32>, memref<256x256xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: expected no memory but the arguments and views of them}}
tile.kernel @scratch(%x: memref<8xf32>) {
  %s = tile.scratch [8] : memref<8xf32>
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  tile.store %t, %s[0] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: 'tile.dot': expected a product of elements, not of words of them}}
tile.kernel @words(%x: memref<8x8xi32>, %y: memref<8x8xi32>) {
  %t = tile.load %x[0, 0] sizes [8, 8] : memref<8x8xi32> -> tensor<8x8xi32>
  %d = tile.dot %t, %t, %t compute <si8 * ui8 + si32> : tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>
  tile.store %d, %y[0, 0] : tensor<8x8xi32>, memref<8x8xi32>
  tile.return
}

// Blocks do not share tiles other than results of reductions.
// expected-remark@below {{kernel has no GPU form as tiles: 'tile.kernel': the blocks of a cluster have different parts of a tile in shared memory}}
tile.kernel @moved(%x: memref<16x128xf32>, %y: memref<128x16xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 4>]>} {
  %c1 = arith.constant 1 : index
  %i = tile.program_id (%c1) : index
  %t = tile.load %x[%i, 0] sizes [16, 128] : memref<16x128xf32> -> tensor<16x128xf32>
  %m = tile.reduce max %t dim 1 : tensor<16x128xf32> -> tensor<16xf32>
  %b = tile.broadcast %m to [16, 128] dims [0] : tensor<16xf32> -> tensor<16x128xf32>
  %d = arith.subf %t, %b : tensor<16x128xf32>
  %r = tile.reshape %d to [128, 16] : tensor<16x128xf32> -> tensor<128x16xf32>
  tile.store %r, %y[0, 0] : tensor<128x16xf32>, memref<128x16xf32>
  tile.return
}
