// RUN: aopt %s --fuse-launches --split-input-file | FileCheck %s
// RUN: sed -e '/^\/\/ -----/,$d' %s | aopt --fuse-launches | cuda-emulate - --symbols=3,3,3,3 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATE

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // Two products of few rows by the same operand: a program of the second reads the
  // columns that the same program of the first has stored. Their other versions stay. The
  // kernel is built once for two pairs of launches.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[UP:.*]] = host.constant dense<1.0
  // CHECK: %[[GATE:.*]] = host.constant dense<2.0
  // CHECK: host.launch @up(
  // CHECK-NEXT: host.launch @gate(
  // CHECK-NEXT: host.launch @up_few_gate_few(%arg0, %[[GATE]], %[[UP]], %arg1) {adze.bytes_saved = #{{.*}}, adze.flops = #{{.*}}, adze.other_version}
  // CHECK-NEXT: host.slot
  // CHECK-NEXT: host.launch @up(
  // CHECK-NEXT: host.launch @gate(
  // CHECK-NEXT: host.launch @up_few_gate_few(%arg0, %[[GATE]], %[[UP]], %arg1)
  // CHECK-NEXT: return
  func.func @main(%x: memref<?x512xf16>, %y: memref<?x64xf16>) attributes {adze.num_inputs = 1 : i64} {
    %up = host.constant dense<1.0> : tensor<64x512xf16> {offset = 0 : i64} -> memref<64x512xf16>
    %gate = host.constant dense<2.0> : tensor<64x512xf16> {offset = 65536 : i64} -> memref<64x512xf16>
    %t = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 128)>} : memref<?x64xf16>
    host.launch @up(%x, %up, %t) {adze.flops = affine_map<()[s0] -> (s0 * 65536)>} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @up_few(%x, %up, %t) {adze.flops = affine_map<()[s0] -> (s0 * 65536)>, adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @gate(%x, %gate, %t, %y) : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    host.launch @gate_few(%x, %gate, %t, %y) {adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    %u = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 128)>} : memref<?x64xf16>
    host.launch @up(%x, %up, %u) : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @up_few(%x, %up, %u) {adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @gate(%x, %gate, %u, %y) : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    host.launch @gate_few(%x, %gate, %u, %y) {adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    return
  }

  tile.kernel @up(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>) {
    tile.return
  }
  // CHECK-NOT: tile.kernel @up_few(
  tile.kernel @up_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>) attributes {tile.params = {BLOCK_N = 4 : i64}} {
    %n = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %g1 = arith.ceildivui %c64, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %col = arith.muli %j, %n : index
    %a = tile.load %x[%i, 0] sizes [512] : memref<?x512xf16> -> tensor<512xf16>
    %b = tile.load %w[%col, 0] sizes [%n, 512] : memref<64x512xf16> -> tensor<?x512xf16>
    %p = arith.extf %a : tensor<512xf16> to tensor<512xf32>
    %q = arith.extf %b : tensor<?x512xf16> to tensor<?x512xf32>
    %r = tile.broadcast %p to [%n, 512] dims [1] : tensor<512xf32> -> tensor<?x512xf32>
    %m = arith.mulf %q, %r : tensor<?x512xf32>
    %s = tile.reduce add %m dim 1 : tensor<?x512xf32> -> tensor<?xf32>
    %h = arith.truncf %s : tensor<?xf32> to tensor<?xf16>
    tile.store %h, %t[%i, %col] : tensor<?xf16>, memref<?x64xf16>
    tile.return
  }
  tile.kernel @gate(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) {
    tile.return
  }
  // The argument between both is gone, and the added one is before the output. The sum
  // that was stored is multiplied, and a program has half of the columns.
  // EMULATE: up_few_gate_few: {{[0-9]+}} programs of {{[0-9]+}} threads agree
  // CHECK: tile.kernel @up_few_gate_few(%[[X:[^:]*]]: memref<?x512xf16>, %[[WG:[^:]*]]: memref<64x512xf16>, %[[WU:[^:]*]]: memref<64x512xf16>, %[[Y:[^:]*]]: memref<?x64xf16>) attributes {tile.params = {BLOCK_N = 2 : i64}}
  // CHECK: %[[ID:.*]]:2 = tile.program_id
  // CHECK-NOT: tile.program_id
  // CHECK: tile.load %[[X]][%[[ID]]#0, 0]
  // CHECK: tile.load %[[WU]]
  // CHECK: %[[STORED:.*]] = arith.truncf
  // CHECK-NOT: tile.load %[[X]][
  // CHECK: tile.load %[[WG]]
  // CHECK: %[[OWN:.*]] = arith.truncf
  // CHECK: %[[R:.*]] = arith.mulf %[[OWN]], %[[STORED]]
  // CHECK: tile.store %[[R]], %[[Y]]
  // CHECK-NOT: tile.store
  tile.kernel @gate_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) attributes {tile.params = {BLOCK_N = 4 : i64}} {
    %n = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %g1 = arith.ceildivui %c64, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %col = arith.muli %j, %n : index
    %a = tile.load %x[%i, 0] sizes [512] : memref<?x512xf16> -> tensor<512xf16>
    %b = tile.load %w[%col, 0] sizes [%n, 512] : memref<64x512xf16> -> tensor<?x512xf16>
    %p = arith.extf %a : tensor<512xf16> to tensor<512xf32>
    %q = arith.extf %b : tensor<?x512xf16> to tensor<?x512xf32>
    %r = tile.broadcast %p to [%n, 512] dims [1] : tensor<512xf32> -> tensor<?x512xf32>
    %m = arith.mulf %q, %r : tensor<?x512xf32>
    %s = tile.reduce add %m dim 1 : tensor<?x512xf32> -> tensor<?xf32>
    %h = arith.truncf %s : tensor<?xf32> to tensor<?xf16>
    %u = tile.load %t[%i, %col] sizes [%n] : memref<?x64xf16> -> tensor<?xf16>
    %v = arith.mulf %h, %u : tensor<?xf16>
    tile.store %v, %y[%i, %col] : tensor<?xf16>, memref<?x64xf16>
    tile.return
  }
}

// -----

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // Not fused: the result is read again later; the second kernel reads another window, in
  // which the values of other programs are; it adds up the values, of which some are
  // beyond the end; an input might be overwritten before the second launch, or by it.
  // CHECK-LABEL: func.func @main
  // CHECK: host.launch @square(
  // CHECK: host.launch @next(
  // CHECK: host.launch @next(
  // CHECK: host.launch @square(
  // CHECK: host.launch @shifted(
  // CHECK: host.launch @square(
  // CHECK: host.launch @sum(
  // CHECK: host.launch @square(
  // CHECK: host.launch @next(
  // CHECK: host.launch @square(
  // CHECK: host.launch @next(
  func.func @main(%y: memref<100xf32>, %z: memref<4xf32>) attributes {adze.num_inputs = 0 : i64} {
    %x = host.constant dense<1.0> : tensor<100xf32> {offset = 0 : i64} -> memref<100xf32>
    %0 = host.slot {offset = 0 : i64, size = 400 : i64} : memref<100xf32>
    host.launch @square(%x, %0) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @next(%0, %y) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @next(%0, %y) : (memref<100xf32>, memref<100xf32>) -> ()
    %1 = host.slot {offset = 0 : i64, size = 400 : i64} : memref<100xf32>
    host.launch @square(%x, %1) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @shifted(%1, %y) : (memref<100xf32>, memref<100xf32>) -> ()
    %2 = host.slot {offset = 0 : i64, size = 400 : i64} : memref<100xf32>
    host.launch @square(%x, %2) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @sum(%2, %z) : (memref<100xf32>, memref<4xf32>) -> ()
    %3 = host.slot {offset = 0 : i64, size = 400 : i64} : memref<100xf32>
    %4 = host.slot {offset = 448 : i64, size = 400 : i64} : memref<100xf32>
    host.launch @square(%3, %4) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @next(%4, %y) : (memref<100xf32>, memref<100xf32>) -> ()
    %5 = host.slot {offset = 448 : i64, size = 400 : i64} : memref<100xf32>
    host.launch @square(%y, %5) : (memref<100xf32>, memref<100xf32>) -> ()
    host.launch @next(%5, %y) : (memref<100xf32>, memref<100xf32>) -> ()
    return
  }
  tile.kernel @square(%x: memref<100xf32>, %y: memref<100xf32>) attributes {tile.params = {}} {
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %i = tile.program_id (%c4) : index
    %o = arith.muli %i, %c32 : index
    %0 = tile.load %x[%o] sizes [32] : memref<100xf32> -> tensor<32xf32>
    %1 = arith.mulf %0, %0 : tensor<32xf32>
    tile.store %1, %y[%o] : tensor<32xf32>, memref<100xf32>
    tile.return
  }
  tile.kernel @next(%x: memref<100xf32>, %y: memref<100xf32>) attributes {tile.params = {}} {
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %i = tile.program_id (%c4) : index
    %o = arith.muli %i, %c32 : index
    %0 = tile.load %x[%o] sizes [32] : memref<100xf32> -> tensor<32xf32>
    %1 = arith.addf %0, %0 : tensor<32xf32>
    tile.store %1, %y[%o] : tensor<32xf32>, memref<100xf32>
    tile.return
  }
  tile.kernel @shifted(%x: memref<100xf32>, %y: memref<100xf32>) attributes {tile.params = {}} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %i = tile.program_id (%c4) : index
    %o = arith.muli %i, %c32 : index
    %p = arith.addi %o, %c1 : index
    %0 = tile.load %x[%p] sizes [32] : memref<100xf32> -> tensor<32xf32>
    tile.store %0, %y[%o] : tensor<32xf32>, memref<100xf32>
    tile.return
  }
  tile.kernel @sum(%x: memref<100xf32>, %y: memref<4xf32>) attributes {tile.params = {}} {
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %i = tile.program_id (%c4) : index
    %o = arith.muli %i, %c32 : index
    %0 = tile.load %x[%o] sizes [32] : memref<100xf32> -> tensor<32xf32>
    %1 = tile.reduce add %0 dim 0 : tensor<32xf32> -> tensor<f32>
    tile.store %1, %y[%i] : tensor<f32>, memref<4xf32>
    tile.return
  }
}

// -----

// Launches on CPUs take no time.
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [1048576, 33554432]>]} {
  // CHECK-LABEL: func.func @main
  // CHECK: host.launch @square(
  // CHECK: host.launch @square(
  func.func @main(%y: memref<32xf32>) attributes {adze.num_inputs = 0 : i64} {
    %x = host.constant dense<1.0> : tensor<32xf32> {offset = 0 : i64} -> memref<32xf32>
    %0 = host.slot {offset = 0 : i64, size = 128 : i64} : memref<32xf32>
    host.launch @square(%x, %0) : (memref<32xf32>, memref<32xf32>) -> ()
    host.launch @square(%0, %y) : (memref<32xf32>, memref<32xf32>) -> ()
    return
  }
  tile.kernel @square(%x: memref<32xf32>, %y: memref<32xf32>) attributes {tile.params = {}} {
    %c1 = arith.constant 1 : index
    %i = tile.program_id (%c1) : index
    %0 = tile.load %x[%i] sizes [32] : memref<32xf32> -> tensor<32xf32>
    %1 = arith.mulf %0, %0 : tensor<32xf32>
    tile.store %1, %y[%i] : tensor<32xf32>, memref<32xf32>
    tile.return
  }
}
