// One function per kernel, whose arguments are eight times the numbers in memory; the
// test knows the expected results.

tile.kernel @f_exp(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.exp %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_log(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.log %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_sin(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.sin %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_cos(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.cos %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_tanh(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.tanh %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_erf(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.erf %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_expm1(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.expm1 %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}

tile.kernel @f_log1p(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  %t = tile.load %x[0] sizes [4096] : memref<4096xf32> -> tensor<4096xf32>
  %f8 = arith.constant 8.0 : f32
  %e = tile.broadcast %f8 to [4096] : f32 -> tensor<4096xf32>
  %s = arith.mulf %t, %e : tensor<4096xf32>
  %r = math.log1p %s : tensor<4096xf32>
  tile.store %r, %y[0] : tensor<4096xf32>, memref<4096xf32>
  tile.return
}
