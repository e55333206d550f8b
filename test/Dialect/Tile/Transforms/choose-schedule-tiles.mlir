// RUN: aopt %s --tile-choose-schedule | FileCheck %s

// Warpgroups compute tiles in turn if an epilogue would take long, and blocks of threads
// have several tiles.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  // The epilogue of a tile is hidden by the products of the next one.
  // CHECK-LABEL: tile.kernel @functions(
  // CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>]
  tile.kernel @functions(%a: memref<4096x768xf16>, %b: memref<768x3072xf16>, %y: memref<4096x3072xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 768 : index
    %columns = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %rows = arith.constant 4096 : index
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<4096x768xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<768x3072xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<4096x3072xf16>
    tile.return
  }
  // Products that take long hide no more by smaller tiles.
  // CHECK-LABEL: tile.kernel @long(
  // CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>]
  tile.kernel @long(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %y: memref<4096x4096xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 4096 : index
    %columns = arith.constant 4096 : index
    %f0 = arith.constant 0.0 : f32
    %rows = arith.constant 4096 : index
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<4096x4096xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<4096x4096xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<4096x4096xf16>
    tile.return
  }
  // One wave of tiles has no next ones.
  // CHECK-LABEL: tile.kernel @wave(
  // CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>]
  tile.kernel @wave(%a: memref<2048x768xf16>, %b: memref<768x2048xf16>, %y: memref<2048x2048xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 768 : index
    %columns = arith.constant 2048 : index
    %f0 = arith.constant 0.0 : f32
    %rows = arith.constant 2048 : index
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<2048x768xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<768x2048xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<2048x2048xf16>
    tile.return
  }
  // Tiles of one stage do not alternate.
  // CHECK-LABEL: tile.kernel @stage(
  // CHECK-SAME: #tile.dim<"k", 64>]
  tile.kernel @stage(%a: memref<65536x64xf16>, %b: memref<64x256xf16>, %y: memref<65536x256xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 64 : index
    %columns = arith.constant 256 : index
    %f0 = arith.constant 0.0 : f32
    %rows = arith.constant 65536 : index
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<65536x64xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<64x256xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<65536x256xf16>
    tile.return
  }
  // Programs that have other numbers of stages do not, either.
  // CHECK-LABEL: tile.kernel @triangular(
  // CHECK-SAME: #tile.dim<"k", 64>]
  tile.kernel @triangular(%a: memref<4096x4096xf16>, %b: memref<4096x3072xf16>, %y: memref<4096x3072xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 4096 : index
    %columns = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %rows = arith.constant 4096 : index
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %row to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<4096x4096xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<4096x3072xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<4096x3072xf16>
    tile.return
  }
  // A dynamic number of rows may be small, but that of a version is usual.
  // CHECK-LABEL: tile.kernel @dynamic(
  // CHECK-SAME: #tile.dim<"k", 64>, #tile.dim<"split", 3>]
  tile.kernel @dynamic(%a: memref<?x768xf16>, %b: memref<768x3072xf16>, %y: memref<?x3072xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 768 : index
    %columns = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %a, %c0 : memref<?x768xf16>
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x768xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<768x3072xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x3072xf16>
    tile.return
  }
  // CHECK-LABEL: tile.kernel @version(
  // CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>]
  tile.kernel @version(%a: memref<?x768xf16>, %b: memref<768x3072xf16>, %y: memref<?x3072xf16>)
      attributes {tile.usual_size = 4096 : i64, tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 768 : index
    %columns = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %a, %c0 : memref<?x768xf16>
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %columns, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x768xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<768x3072xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %e = math.exp2 %acc : tensor<?x?xf32>
    %s = arith.divf %acc, %e : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x3072xf16>
    tile.return
  }
}
