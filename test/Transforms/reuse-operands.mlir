// RUN: aopt %s --reuse-operands --split-input-file | FileCheck %s
// RUN: sed -e '/^\/\/ -----/,$d' %s | aopt --reuse-operands --plan-memory | FileCheck %s --check-prefix=PLANNED

#rows = affine_map<()[s0] -> (s0, 64)>
#size = affine_map<()[s0] -> (s0 * 256)>

// CHECK-LABEL: func.func @main
// The last launch that reads a slot stores its result there, also of dynamic size.
// CHECK: %[[A:.*]] = host.slot {size = 256 : i64}
// CHECK-NEXT: host.launch @exp(%arg0, %[[A]])
// CHECK-NEXT: host.launch @exp(%[[A]], %[[A]])
// CHECK-NEXT: host.launch @exp(%[[A]], %arg1)
// PLANNED: adze.arena_bytes = #[[BYTES:.*]], adze.arena_lower_bound
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
  %a = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @exp(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @exp(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  host.launch @exp(%b, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  return
}
// CHECK: tile.kernel @exp(%{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32> {adze.in_place = 0 : i64})
tile.kernel @exp(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c16 = arith.constant 16 : index
  %c4 = arith.constant 4 : index
  %i = tile.program_id (%c4) : index
  %at = arith.muli %i, %c16 : index
  %v = tile.load %x[%at] sizes [16] : memref<64xf32> -> tensor<16xf32>
  %e = math.exp %v : tensor<16xf32>
  tile.store %e, %y[%at] : tensor<16xf32>, memref<64xf32>
  tile.return
}

// -----

#rows = affine_map<()[s0] -> (s0, 64)>
#size = affine_map<()[s0] -> (s0 * 256)>

// A product adds an operand through a view, of dynamic size. A launch whose operand is
// read later, by @last, has memory of its own.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = host.slot
// CHECK: %[[B:.*]] = host.slot
// CHECK: host.launch @product(%arg0, %[[A]], %[[B]])
// CHECK: host.launch @product(%[[B]], %[[A]], %[[A]])
// CHECK-NEXT: host.launch @first(%[[A]], %arg1)
func.func @main(%x: memref<?x8x8xf32> {adze.dims = #rows}, %y: memref<?x8x8xf32> {adze.dims = #rows}) attributes {adze.num_inputs = 1 : i64} {
  %a = host.slot {size = #size} : memref<?x8x8xf32>
  host.launch @first(%x, %a) : (memref<?x8x8xf32>, memref<?x8x8xf32>) -> ()
  %b = host.slot {size = #size} : memref<?x8x8xf32>
  host.launch @product(%x, %a, %b) : (memref<?x8x8xf32>, memref<?x8x8xf32>, memref<?x8x8xf32>) -> ()
  %c = host.slot {size = #size} : memref<?x8x8xf32>
  host.launch @product(%b, %a, %c) : (memref<?x8x8xf32>, memref<?x8x8xf32>, memref<?x8x8xf32>) -> ()
  host.launch @first(%c, %y) : (memref<?x8x8xf32>, memref<?x8x8xf32>) -> ()
  return
}
func.func private @first(memref<?x8x8xf32>, memref<?x8x8xf32>)
// CHECK: tile.kernel @product({{.*}} {adze.in_place = 1 : i64})
tile.kernel @product(%x: memref<?x8x8xf32>, %z: memref<?x8x8xf32>, %y: memref<?x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8x8xf32>
  %xs = memref.collapse_shape %x [[0], [1, 2]] : memref<?x8x8xf32> into memref<?x64xf32>
  %zs = memref.collapse_shape %z [[0], [1, 2]] : memref<?x8x8xf32> into memref<?x64xf32>
  %ys = memref.collapse_shape %y [[0], [1, 2]] : memref<?x8x8xf32> into memref<?x64xf32>
  %i = tile.program_id (%n) : index
  %v = tile.load %xs[%i, 0] sizes [64] dims [1] : memref<?x64xf32> -> tensor<64xf32>
  %s = tile.reduce add %v dim 0 : tensor<64xf32> -> tensor<f32>
  %b = tile.broadcast %s to [64] dims [] : tensor<f32> -> tensor<64xf32>
  %w = tile.load %zs[%i, 0] sizes [64] dims [1] : memref<?x64xf32> -> tensor<64xf32>
  %t = arith.addf %b, %w : tensor<64xf32>
  tile.store %t, %ys[%i, 0] dims [1] : tensor<64xf32>, memref<?x64xf32>
  tile.return
}

// -----

// Refused: windows that other programs store (@shift), elements that are reduced
// (@norm), two results (@two), an operand that is the second operand, too, and an operand
// in the memory of an output.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-7: host.slot
// CHECK-NOT: adze.in_place
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
  %a = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @norm(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @shift(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  %c = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @norm(%b, %c) : (memref<64xf32>, memref<64xf32>) -> ()
  %d = host.slot {size = 256 : i64} : memref<64xf32>
  %e = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @two(%c, %d, %e) {num_outputs = 2 : i64} : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  %f = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @add(%d, %d, %f) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  host.launch @add(%e, %f, %y) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  %g = host.slot {size = 256 : i64} : memref<64xf32>
  host.launch @shift(%y, %g) : (memref<64xf32>, memref<64xf32>) -> ()
  host.launch @shift(%g, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  return
}
tile.kernel @shift(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %i = tile.program_id (%c3) : index
  %at = arith.muli %i, %c16 : index
  %next = arith.addi %at, %c1 : index
  %v = tile.load %x[%next] sizes [16] : memref<64xf32> -> tensor<16xf32>
  tile.store %v, %y[%at] : tensor<16xf32>, memref<64xf32>
  tile.return
}
tile.kernel @norm(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %i = tile.program_id (%c1) : index
  %v = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %s = tile.reduce add %v dim 0 : tensor<64xf32> -> tensor<f32>
  %b = tile.broadcast %s to [64] dims [] : tensor<f32> -> tensor<64xf32>
  %t = arith.divf %v, %b : tensor<64xf32>
  tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}
tile.kernel @two(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %i = tile.program_id (%c1) : index
  %v = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %t = arith.negf %v : tensor<64xf32>
  tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.store %v, %z[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}
tile.kernel @add(%x: memref<64xf32>, %z: memref<64xf32>, %y: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %i = tile.program_id (%c1) : index
  %v = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %w = tile.load %z[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %t = arith.addf %v, %w : tensor<64xf32>
  tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}

// -----

// Kernels for GPUs read operands through caches that do not see their stores.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // CHECK-LABEL: func.func @main
  // CHECK-COUNT-2: host.slot
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
    %a = host.slot {size = 256 : i64} : memref<64xf32>
    host.launch @negate(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
    %b = host.slot {size = 256 : i64} : memref<64xf32>
    host.launch @negate(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @negate(%b, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }
  tile.kernel @negate(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %i = tile.program_id (%c1) : index
    %v = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
    %t = arith.negf %v : tensor<64xf32>
    tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
}
