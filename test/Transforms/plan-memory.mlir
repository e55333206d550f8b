// RUN: aopt %s --plan-memory --split-input-file | FileCheck %s

func.func private @k(memref<1024xf32>, memref<1024xf32>) attributes {adze.kernel}

// The memory of the first slot is free again when the third one begins.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME: adze.arena_bytes = #[[BYTES:map[0-9]*]]
// CHECK-SAME: adze.arena_lower_bound = #[[BYTES]]
func.func @reuse(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {adze.num_inputs = 1 : i64} {
  // CHECK: host.slot {offset = [[FIRST:[0-9]+]] : i64
  %0 = host.slot {size = 4096 : i64} : memref<1024xf32>
  host.launch @k(%x, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  // CHECK: host.slot {offset = [[SECOND:[0-9]+]] : i64
  %1 = host.slot {size = 4096 : i64} : memref<1024xf32>
  host.launch @k(%0, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
  // CHECK: host.slot {offset = [[FIRST]] : i64
  %2 = host.slot {size = 4096 : i64} : memref<1024xf32>
  host.launch @k(%1, %2) : (memref<1024xf32>, memref<1024xf32>) -> ()
  host.launch @k(%2, %y) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

func.func private @k(memref<1024xf32>, memref<1024xf32>) attributes {adze.kernel}

// A view keeps its slot live.
// CHECK: #[[BYTES:.*]] = affine_map<() -> (8192)>
// CHECK-LABEL: func.func @view
// CHECK-SAME: adze.arena_bytes = #[[BYTES]]
func.func @view(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {adze.num_inputs = 1 : i64} {
  %0 = host.slot {size = 4096 : i64} : memref<32x32xf32>
  %1 = host.view %0 : memref<32x32xf32> -> memref<1024xf32>
  host.launch @k(%x, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %2 = host.slot {size = 4096 : i64} : memref<1024xf32>
  host.launch @k(%x, %2) : (memref<1024xf32>, memref<1024xf32>) -> ()
  host.launch @k(%1, %y) : (memref<1024xf32>, memref<1024xf32>) -> ()
  host.launch @k(%2, %y) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Sizes of one expression are compared by their factors; others are rounded. The last
// slot reuses the memory of the first one, which is larger.
// CHECK-DAG: #[[TWICE:.*]] = affine_map<()[s0] -> (s0 * 128)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<()[s0] -> (s0 * 192)>
// CHECK-LABEL: func.func @one_expression
// CHECK-SAME: adze.arena_bytes = #[[ALL]]
// CHECK-SAME: adze.arena_lower_bound = #[[ALL]]
func.func @one_expression(%x: memref<?xf32>, %y: memref<?xf32>) attributes {adze.num_inputs = 1 : i64, graph.symbols = ["n"]} {
  // CHECK: host.slot {offset = 0 : i64
  %0 = host.slot {size = affine_map<()[s0] -> (s0 * 128)>} : memref<?xf32>
  host.launch @k(%x, %0) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.slot {offset = #[[TWICE]]
  %1 = host.slot {size = affine_map<()[s0] -> (s0 * 64)>} : memref<?xf32>
  host.launch @k(%0, %1) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.slot {offset = 0 : i64
  %2 = host.slot {size = affine_map<()[s0] -> (s0 * 64)>} : memref<?xf32>
  host.launch @k(%1, %2) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%2, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Sizes that no formula compares also share memory: their order is decided for typical
// values, and the offset of a slot is then computed at run time. %0 and %1 are live
// together, and so are %1 and %2: %1 is after both.
// CHECK-DAG: #[[LINEAR:.*]] = affine_map<()[s0] -> (s0 * 640)>
// CHECK-DAG: #[[SQUARE:.*]] = affine_map<()[s0] -> ((s0 * s0) * 64)>
// CHECK-LABEL: func.func @two_expressions
// CHECK-DAG: %[[A:.*]] = host.slot {offset = 0 : i64, size = #[[LINEAR]]}
// CHECK-DAG: %[[B:.*]] = host.slot {offset = 0 : i64, size = #[[SQUARE]]}
// CHECK: host.slot after(%[[A]], %[[B]] : memref<?xf32>, memref<?xf32>) {size = 256 : i64}
// CHECK-NEXT: host.launch
func.func @two_expressions(%x: memref<?xf32>, %y: memref<?xf32>) attributes {adze.num_inputs = 1 : i64, graph.symbols = ["n"]} {
  %0 = host.slot {size = affine_map<()[s0] -> (s0 * 640)>} : memref<?xf32>
  host.launch @k(%x, %0) : (memref<?xf32>, memref<?xf32>) -> ()
  %1 = host.slot {size = 256 : i64} : memref<?xf32>
  host.launch @k(%0, %1) : (memref<?xf32>, memref<?xf32>) -> ()
  %2 = host.slot {size = affine_map<()[s0] -> ((s0 * s0) * 64)>} : memref<?xf32>
  host.launch @k(%1, %2) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%2, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// The order depends on the common value of the symbol: at 2, the square is the smaller
// one and comes last, at the end of 1280 bytes.
// CHECK: #[[LINEAR:.*]] = affine_map<()[s0] -> (s0 * 640)>
// CHECK-LABEL: func.func @common_value
// CHECK: host.slot {offset = 0 : i64, size = #[[LINEAR]]}
// CHECK: host.slot {offset = #[[LINEAR]], size =
func.func @common_value(%x: memref<?xf32>, %y: memref<?xf32>) attributes {adze.num_inputs = 1 : i64, graph.symbols = ["n"], graph.symbol_ranges = [array<i64: 1, -1, 2>]} {
  %0 = host.slot {size = affine_map<()[s0] -> (s0 * 640)>} : memref<?xf32>
  host.launch @k(%x, %0) : (memref<?xf32>, memref<?xf32>) -> ()
  %1 = host.slot {size = affine_map<()[s0] -> ((s0 * s0) * 64)>} : memref<?xf32>
  host.launch @k(%0, %1) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%1, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) attributes {adze.kernel}

// Equal constants are stored once; a packed form is a separate one, of whole panels: 4 x
// 32 floats.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: adze.weights_bytes = 640
func.func @weights(%x: memref<4x8xf32>) attributes {adze.num_inputs = 0 : i64} {
  // CHECK: host.constant {{.*}} {offset = 0 : i64}
  %0 = host.constant dense<1.0> : tensor<4x8xf32> -> memref<4x8xf32>
  // CHECK: host.constant {{.*}} {offset = 0 : i64}
  %1 = host.constant dense<1.0> : tensor<4x8xf32> -> memref<4x8xf32>
  // CHECK: host.constant {{.*}} {layout = #{{.*}}, offset = 128 : i64}
  %2 = host.constant dense<1.0> : tensor<4x8xf32> {layout = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>} -> memref<4x8xf32>
  host.launch @k(%0, %1, %x) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
  host.launch @k(%0, %2, %x) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Data-dependent sizes are not part of the arena; a box whose slot is dead is reused for
// the next one. Boxes with a number are not shared.
// CHECK-LABEL: func.func @boxes
// CHECK-SAME: adze.num_boxes = 3
func.func @boxes(%n: memref<1xi64>, %x: memref<?xf32>) attributes {adze.num_boxes = 1 : i64, adze.num_inputs = 2 : i64} {
  host.bind %n {symbols = array<i64: 0>} : memref<1xi64>
  // CHECK: host.slot {box = 0 : i64
  %own = host.slot {size = affine_map<()[s0] -> (s0 * 8)>, box = 0 : i64} : memref<?xf32>
  // CHECK: host.slot {box = [[A:[12]]] : i64
  %0 = host.slot {size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
  host.launch @k(%x, %0) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.slot {box = [[B:[12]]] : i64
  %1 = host.slot {size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
  host.launch @k(%0, %1) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.slot {box = [[A]] : i64
  %2 = host.slot {size = affine_map<()[s0] -> (s0 * 12)>} : memref<?xf32>
  host.launch @k(%1, %2) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<1024xf32>, memref<1024xf32>) attributes {adze.kernel}

// Values that a loop reads from outside must be live until the loop ends: a slot of the
// body does not reuse their memory, although it begins after the last use.
// CHECK: #[[BYTES:.*]] = affine_map<() -> (8192)>
// CHECK-LABEL: func.func @loop
// CHECK-SAME: adze.arena_bytes = #[[BYTES]]
func.func @loop(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {adze.num_inputs = 1 : i64} {
  %0 = host.slot {size = 4096 : i64} : memref<1024xf32>
  host.launch @k(%x, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %zero = arith.constant 0 : i64
  %1 = scf.while (%i = %zero) : (i64) -> i64 {
    %more = arith.cmpi slt, %i, %zero : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%j: i64):
    host.launch @k(%0, %y) : (memref<1024xf32>, memref<1024xf32>) -> ()
    %inner = host.slot {size = 4096 : i64} : memref<1024xf32>
    host.launch @k(%x, %inner) : (memref<1024xf32>, memref<1024xf32>) -> ()
    host.launch @k(%inner, %y) : (memref<1024xf32>, memref<1024xf32>) -> ()
    scf.yield %j : i64
  }
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Places of an earlier plan are replaced.
// CHECK-LABEL: func.func @planned
// CHECK-NEXT: host.slot {offset = 0 : i64, size = #[[SIZE:.*]]} : memref<?xf32>
// CHECK-NEXT: host.slot {offset = #[[SIZE]], size = #[[SIZE]]} : memref<?xf32>
func.func @planned(%a: memref<?xf32>, %b: memref<?xf32>) attributes {adze.num_inputs = 1 : i64} {
  %x = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 192)>} : memref<?xf32>
  %y = host.slot after(%x : memref<?xf32>) {size = affine_map<()[s0] -> (s0 * 192)>} : memref<?xf32>
  host.launch @k(%a, %x) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%y, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}
