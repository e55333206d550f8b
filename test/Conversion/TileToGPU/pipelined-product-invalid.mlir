// RUN: aopt %s --convert-tile-to-gpu --verify-diagnostics | FileCheck %s

#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>

// CHECK-NOT: gpu.module
// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: the schedule has other blocks than the kernel}}
tile.kernel @blocks(%a: memref<64x512xf16>, %b: memref<512x64xf16>, %y: memref<64x64xf32>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c1) : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[0, %k] sizes [64, 64] : memref<64x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 64] : memref<512x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: 0 products}}
tile.kernel @copy(%x: memref<64xf16>, %y: memref<64xf16>) attributes {tile.schedule = #small} {
  %t = tile.load %x[0] sizes [64] : memref<64xf16> -> tensor<64xf16>
  tile.store %t, %y[0] : tensor<64xf16>, memref<64xf16>
  tile.return
}

#copied = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
#turns = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [8, 4], stages = 2, inflight = 1, persistent = 16>>
#computed = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = computed, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: the schedule copies a computed operand}}
tile.kernel @computed(%a: memref<64x512xf16>, %b: memref<512x128xi8>, %y: memref<64x128xf32>) attributes {tile.schedule = #copied} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c1) : index
  %zero = tile.broadcast %f0 to [64, 128] : f32 -> tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x128xf32> {
    %l = tile.load %a[0, %k] sizes [64, 64] : memref<64x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 128] : memref<512x128xi8> -> tensor<64x128xi8>
    %f = arith.sitofp %r : tensor<64x128xi8> to tensor<64x128xf16>
    %d = tile.dot %l, %f, %q : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %y[0, 0] : tensor<64x128xf32>, memref<64x128xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: the schedule computes a loaded operand}}
tile.kernel @loaded(%a: memref<64x512xf16>, %b: memref<512x128xf16>, %y: memref<64x128xf32>) attributes {tile.schedule = #computed} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c1) : index
  %zero = tile.broadcast %f0 to [64, 128] : f32 -> tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x128xf32> {
    %l = tile.load %a[0, %k] sizes [64, 64] : memref<64x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 128] : memref<512x128xf16> -> tensor<64x128xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %y[0, 0] : tensor<64x128xf32>, memref<64x128xf32>
  tile.return
}

// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: more warpgroups copy operands than can take turns}}
tile.kernel @turns(%a: memref<64x512xf16>, %b: memref<512x128xf16>, %y: memref<64x128xf32>) attributes {tile.schedule = #turns} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c1) : index
  %zero = tile.broadcast %f0 to [64, 128] : f32 -> tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x128xf32> {
    %l = tile.load %a[0, %k] sizes [64, 64] : memref<64x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 128] : memref<512x128xf16> -> tensor<64x128xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %y[0, 0] : tensor<64x128xf32>, memref<64x128xf32>
  tile.return
}
