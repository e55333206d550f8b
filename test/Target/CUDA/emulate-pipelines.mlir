// RUN: cuda-emulate %s --symbols=150,150 --tolerance=4e-3 | FileCheck %s

// Scheduled products against the interpreter: copies by tensor maps to a ring in shared
// memory, and matrix instructions of warpgroups. At most two blocks of threads run, so
// each computes several tiles.

// Rows and columns end within a block, and the depth within a stage.
// CHECK-DAG: ragged: 6 programs of 256 threads agree
#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @ragged(%a: memref<?x200xf16>, %b: memref<200x96xf16>, %y: memref<?x96xf16>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x200xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c200 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x200xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<200x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%row, %col] : tensor<64x64xf16>, memref<?x96xf16>
  tile.return
}

// Two warpgroups multiply, each with two blocks of 64 rows; an epilogue with a bias, and
// results in two types. No group is in flight while a stage is returned.
// CHECK-DAG: epilogue: 2 programs of 384 threads agree
#wide = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 256>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 3, inflight = 0, persistent = 16>>
tile.kernel @epilogue(%a: memref<256x128xbf16>, %b: memref<128x128xbf16>, %c: memref<128xf32>, %y: memref<256x128xbf16>, %z: memref<256x128xf32>)
    attributes {tile.schedule = #wide} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %f0 = arith.constant 0.0 : f32
  %i, %j = tile.program_id (%c1, %c2) : index, index
  %row = arith.muli %i, %c256 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [256, 64] : f32 -> tensor<256x64xf32>
  %acc = scf.for %k = %c0 to %c128 step %c64 iter_args(%q = %zero) -> tensor<256x64xf32> {
    %l = tile.load %a[%row, %k] sizes [256, 64] : memref<256x128xbf16> -> tensor<256x64xbf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<128x128xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %l, %r, %q : tensor<256x64xbf16>, tensor<64x64xbf16>, tensor<256x64xf32>
    scf.yield %d : tensor<256x64xf32>
  }
  %v = tile.load %c[%col] sizes [64] : memref<128xf32> -> tensor<64xf32>
  %bias = tile.broadcast %v to [256, 64] dims [1] : tensor<64xf32> -> tensor<256x64xf32>
  %s = arith.addf %acc, %bias : tensor<256x64xf32>
  %h = arith.truncf %s : tensor<256x64xf32> to tensor<256x64xbf16>
  tile.store %h, %y[%row, %col] : tensor<256x64xbf16>, memref<256x128xbf16>
  %t = math.tanh %s : tensor<256x64xf32>
  tile.store %t, %z[%row, %col] : tensor<256x64xf32>, memref<256x128xf32>
  tile.return
}

// Elements along the depth are adjacent in both operands, which are rounded to tf32; rows
// of 33 elements have no tensor map, so they are stored from registers.
// CHECK-DAG: tf32: 2 programs of 256 threads agree
#half = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 32>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @tf32(%a: memref<100x96xf32>, %b: memref<33x96xf32>, %y: memref<100x33xf32>) attributes {tile.schedule = #half} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %f0 = arith.constant 0.0 : f32
  %i, %j = tile.program_id (%c2, %c1) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c96 step %c32 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 32] : memref<100x96xf32> -> tensor<64x32xf32>
    %r = tile.load %b[%col, %k] sizes [32, 64] dims [1, 0] : memref<33x96xf32> -> tensor<32x64xf32>
    %d = tile.dot %l, %r, %q compute <tf32 * tf32 + f32> : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, %col] : tensor<64x64xf32>, memref<100x33xf32>
  tile.return
}

// Products of bytes, whose sums are exact.
// CHECK-DAG: bytes: 2 programs of 256 threads agree
#bytes = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 64>, #tile.operand<1, copy = tma, swizzle = 64>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @bytes(%a: memref<128x160xi8>, %b: memref<128x160xi8>, %y: memref<128x128xi32>) attributes {tile.schedule = #bytes} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c160 = arith.constant 160 : index
  %i0 = arith.constant 0 : i32
  %i, %j = tile.program_id (%c2, %c1) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c128 : index
  %zero = tile.broadcast %i0 to [64, 128] : i32 -> tensor<64x128xi32>
  %acc = scf.for %k = %c0 to %c160 step %c64 iter_args(%q = %zero) -> tensor<64x128xi32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<128x160xi8> -> tensor<64x64xi8>
    %r = tile.load %b[%col, %k] sizes [64, 128] dims [1, 0] : memref<128x160xi8> -> tensor<64x128xi8>
    %d = tile.dot %l, %r, %q compute <ui8 * si8 + si32> : tensor<64x64xi8>, tensor<64x128xi8>, tensor<64x128xi32>
    scf.yield %d : tensor<64x128xi32>
  }
  tile.store %acc, %y[%row, %col] : tensor<64x128xi32>, memref<128x128xi32>
  tile.return
}

// Up to four blocks of a cluster share the depth of a tile.
// CHECK-DAG: split: 2 programs of 256 threads agree
#split = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"split", 4>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @split(%a: memref<70x320xf16>, %b: memref<320x64xf16>, %y: memref<70x64xf16>) attributes {tile.schedule = #split} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c320 = arith.constant 320 : index
  %f0 = arith.constant 0.0 : f32
  %i, %j = tile.program_id (%c2, %c1) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c320 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<70x320xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<320x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%row, %col] : tensor<64x64xf16>, memref<70x64xf16>
  tile.return
}
