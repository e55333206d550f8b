// Kernels of single functions, for device-math.mlir.
tile.kernel @power(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %r = math.exp %t : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
tile.kernel @weight(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %r = math.exp %t fastmath<afn,arcp> : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
tile.kernel @sigmoid(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %f1 = arith.constant 1.0 : f32
  %one = tile.broadcast %f1 to [256] : f32 -> tensor<256xf32>
  %e = math.exp %t fastmath<afn> : tensor<256xf32>
  %s = arith.addf %one, %e : tensor<256xf32>
  %r = arith.divf %t, %s : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
tile.kernel @quotient(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %f1 = arith.constant 1.0 : f32
  %one = tile.broadcast %f1 to [256] : f32 -> tensor<256xf32>
  %s = arith.addf %one, %t : tensor<256xf32>
  %r = arith.divf %t, %s : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
tile.kernel @byconstant(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %f3 = arith.constant 3.0 : f32
  %three = tile.broadcast %f3 to [256] : f32 -> tensor<256xf32>
  %r = arith.divf %t, %three : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
