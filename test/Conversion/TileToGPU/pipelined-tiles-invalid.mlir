// RUN: aopt %s --convert-tile-to-gpu --verify-diagnostics | FileCheck %s

#three = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 12], stages = 2, inflight = 1, persistent = 16>>
#split = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>, #tile.dim<"split", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 2, inflight = 1, persistent = 16>>
#two = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 2, inflight = 1, persistent = 16>>

// CHECK-NOT: gpu.module
// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: 2 tiles in flight do not divide the 3 warpgroups}}
tile.kernel @shared(%a: memref<256x512xf16>, %b: memref<512x64xf16>, %y: memref<256x64xf32>) attributes {tile.schedule = #three} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c4) : index
  %row = arith.muli %i, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<256x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 64] : memref<512x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, 0] : tensor<64x64xf32>, memref<256x64xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: several tiles are in flight, and their depth is split}}
tile.kernel @parts(%a: memref<256x512xf16>, %b: memref<512x64xf16>, %y: memref<256x64xf32>) attributes {tile.schedule = #split} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c4) : index
  %row = arith.muli %i, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<256x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 64] : memref<512x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, 0] : tensor<64x64xf32>, memref<256x64xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: several tiles are in flight, and their depths differ}}
tile.kernel @triangular(%a: memref<256x512xf16>, %b: memref<512x64xf16>, %y: memref<256x64xf32>) attributes {tile.schedule = #two} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c4) : index
  %row = arith.muli %i, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %row to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<256x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 64] : memref<512x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, 0] : tensor<64x64xf32>, memref<256x64xf32>
  tile.return
}
