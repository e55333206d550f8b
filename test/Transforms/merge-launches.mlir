// RUN: aopt %s --merge-launches --split-input-file | FileCheck %s
// RUN: sed -e '/^\/\/ -----/,$d' %s | aopt --merge-launches | cuda-emulate - --symbols=5,5,5,5 | FileCheck %s --check-prefix=EMULATE

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // Three launches that read one slot, of which two write to states of their own. The
  // kernels run one after the other within a grid of one dimension, and have parameters of
  // their own; an input of several launches is one argument.
  // CHECK-LABEL: func.func @main
  // CHECK: host.launch @produce(%arg0, %[[X:.*]]) :
  // CHECK: %[[K:.*]] = host.state 0
  // CHECK: %[[V:.*]] = host.state 1
  // CHECK-NEXT: host.launch @scale_append_append(%[[X]], %[[Y:.*]], %[[K]], %[[V]])
  // CHECK-SAME: adze.bytes_read = #[[READ:.*]], adze.bytes_saved = 0 : i64, adze.bytes_written = #{{.*}}, adze.flops = 12 : i64, num_outputs = 3 : i64
  // CHECK-NEXT: host.launch @produce(%[[Y]], %arg1)
  func.func @main(%a: memref<?x48xf32>, %b: memref<?x48xf32>) attributes {adze.num_inputs = 1 : i64} {
    %x = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 192)>} : memref<?x48xf32>
    %y = host.slot after(%x : memref<?x48xf32>) {size = affine_map<()[s0] -> (s0 * 192)>} : memref<?x48xf32>
    host.launch @produce(%a, %x) : (memref<?x48xf32>, memref<?x48xf32>) -> ()
    host.launch @scale(%x, %y) {adze.flops = 12 : i64} : (memref<?x48xf32>, memref<?x48xf32>) -> ()
    %k = host.state 0 {pitch = 1 : i64} : memref<?x48xf32>
    host.launch @append(%x, %k) : (memref<?x48xf32>, memref<?x48xf32>) -> ()
    %v = host.state 1 {pitch = 1 : i64} : memref<?x48xf32>
    host.launch @append(%x, %v) : (memref<?x48xf32>, memref<?x48xf32>) -> ()
    host.launch @produce(%y, %b) : (memref<?x48xf32>, memref<?x48xf32>) -> ()
    return
  }
  // A reduction stays alone.
  tile.kernel @produce(%x: memref<?x48xf32>, %y: memref<?x48xf32>) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?x48xf32>
    %i = tile.program_id (%n) : index
    %0 = tile.load %x[%i, 0] sizes [1, 48] : memref<?x48xf32> -> tensor<1x48xf32>
    %1 = tile.reduce add %0 dim 1 : tensor<1x48xf32> -> tensor<1xf32>
    %2 = tile.broadcast %1 to [1, 48] dims [0] : tensor<1xf32> -> tensor<1x48xf32>
    tile.store %2, %y[%i, 0] : tensor<1x48xf32>, memref<?x48xf32>
    tile.return
  }
  // EMULATE: scale_append_append: {{[0-9]+}} programs of {{[0-9]+}} threads agree
  // CHECK: tile.kernel @scale_append_append(%[[A:[^:]*]]: memref<?x48xf32>, %[[B:[^:]*]]: memref<?x48xf32>, %[[C:[^:]*]]: memref<?x48xf32>, %[[D:[^:]*]]: memref<?x48xf32>)
  // CHECK-SAME: tile.params = {BLOCK_0 = 16 : i64, BLOCK_1 = 32 : i64, BLOCK_2 = 32 : i64}
  // CHECK: %[[ALL:.*]] = tile.program_id(%{{.*}}) : index
  // CHECK-NOT: tile.program_id
  // CHECK: scf.if
  // CHECK: tile.store %{{.*}}, %[[B]]
  // CHECK: scf.if
  // CHECK: arith.remui
  // CHECK: arith.divui
  // CHECK: tile.store %{{.*}}, %[[C]]
  // CHECK: scf.if
  // CHECK: tile.store %{{.*}}, %[[D]]
  tile.kernel @scale(%x: memref<?x48xf32>, %y: memref<?x48xf32>) attributes {tile.params = {BLOCK = 16 : i64}} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3.0 : f32
    %b = tile.param "BLOCK" : index
    %n = memref.dim %x, %c0 : memref<?x48xf32>
    %g = arith.ceildivui %n, %b : index
    %i = tile.program_id (%g) : index
    %o = arith.muli %i, %b : index
    %0 = tile.load %x[%o, 0] sizes [%b, 48] : memref<?x48xf32> -> tensor<?x48xf32>
    %1 = tile.broadcast %c3 to [%b, 48] : f32 -> tensor<?x48xf32>
    %2 = arith.mulf %0, %1 : tensor<?x48xf32>
    tile.store %2, %y[%o, 0] : tensor<?x48xf32>, memref<?x48xf32>
    tile.return
  }
  tile.kernel @append(%x: memref<?x48xf32>, %k: memref<?x48xf32>) attributes {tile.params = {BLOCK = 32 : i64}} {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %b = tile.param "BLOCK" : index
    %n = memref.dim %x, %c0 : memref<?x48xf32>
    %g = arith.ceildivui %c48, %b : index
    %i, %j = tile.program_id (%g, %n) : index, index
    %o = arith.muli %i, %b : index
    %0 = tile.load %x[%j, %o] sizes [%b] : memref<?x48xf32> -> tensor<?xf32>
    tile.store %0, %k[%j, %o] : tensor<?xf32>, memref<?x48xf32>
    tile.return
  }
}

// -----

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // The second launch reads what the first writes. The third writes to a slot in whose
  // memory the second reads for the last time. The fourth writes what the third reads. The
  // last two write to one state.
  // CHECK-LABEL: func.func @main
  // CHECK-COUNT-6: host.launch @copy(
  func.func @main(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
    %0 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
    %1 = host.slot {offset = 256 : i64, size = 256 : i64} : memref<64xf32>
    %2 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
    %s = host.state 0 {pitch = 1 : i64} : memref<64xf32>
    host.launch @copy(%a, %0) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%0, %1) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%a, %2) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%2, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%b, %s) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%1, %s) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }
  tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32>) attributes {tile.params = {}} {
    %c1 = arith.constant 1 : index
    %i = tile.program_id (%c1) : index
    %0 = tile.load %x[%i] sizes [64] : memref<64xf32> -> tensor<64xf32>
    tile.store %0, %y[%i] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
}

// -----

// Nothing is merged for CPUs.
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [1048576, 33554432]>]} {
  // CHECK-LABEL: func.func @main
  // CHECK-COUNT-2: host.launch @copy(
  func.func @main(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
    host.launch @copy(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%a, %c) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }
  tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %i = tile.program_id (%c1) : index
    %0 = tile.load %x[%i] sizes [64] : memref<64xf32> -> tensor<64xf32>
    tile.store %0, %y[%i] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
}
