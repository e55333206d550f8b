// RUN: aopt %s --assign-destinations --plan-memory --split-input-file | FileCheck %s

#n = affine_map<()[s0] -> (s0)>
func.func private @count(memref<4xf32>, memref<1xi64>) attributes {adze.kernel}
func.func private @pick(memref<4xf32>, memref<?xf32> {adze.dims = #n}) attributes {adze.kernel}

// A data-dependent size: read, then boxes of that size, then the output's memory.
// CHECK-LABEL: func.func @data(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<?xf32> {adze.dims = #{{.*}}})
// CHECK-SAME: adze.num_boxes = 1
func.func @data(%x: tensor<4xf32>) -> tensor<?xf32, #n> attributes {graph.symbols = [""]} {
  // CHECK: host.launch @count(%[[X]], %[[COUNT:[0-9]+]])
  // CHECK: host.bind %[[COUNT]] {symbols = array<i64: 0>}
  %0 = host.launch @count(%x) : (tensor<4xf32>) -> tensor<1xi64>
  graph.bind %0 {symbols = array<i64: 0>} : tensor<1xi64>
  // CHECK: %[[BOX:.*]] = host.slot {box = 0 : i64, size = #{{.*}}} : memref<?xf32>
  // CHECK: host.launch @pick(%[[X]], %[[BOX]])
  %1 = host.launch @pick(%x) : (tensor<4xf32>) -> tensor<?xf32, #n>
  // CHECK: %[[OUT:.*]] = host.output %[[Y]] : memref<?xf32>
  // CHECK: host.launch @double(%[[BOX]], %[[OUT]])
  %2 = host.launch @double(%1) : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  return %2 : tensor<?xf32, #n>
}
func.func private @double(memref<?xf32> {adze.dims = #n}, memref<?xf32> {adze.dims = #n}) attributes {adze.kernel}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// A branch computes to the memory of the result; a value from outside is copied to it.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[C:.*]]: memref<i1>, %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>)
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = host.slot {offset = {{.*}}, size = 16 : i64} : memref<4xf32>
  // CHECK: %[[FLAG:.*]] = host.read %[[C]] : memref<i1> -> i1
  // CHECK: scf.if %[[FLAG]] {
  // CHECK: host.launch @k(%[[X]], %[[R]])
  // CHECK: } else {
  // CHECK: host.copy %[[X]] to %[[R]] {size = 16 : i64}
  %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = host.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  // CHECK: host.launch @k(%[[R]], %[[Y]])
  %1 = host.launch @k(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// Carried values that are swapped are copied first.
// CHECK-LABEL: func.func @swap(
func.func @swap(%n: tensor<i64>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = host.slot
  // CHECK: host.copy %{{.*}} to %[[A]]
  // CHECK: %[[B:.*]] = host.slot
  // CHECK: host.copy %{{.*}} to %[[B]]
  // CHECK: %[[N:.*]] = host.read %{{.*}} : memref<i64> -> i64
  // CHECK: scf.while (%[[I:.*]] = %{{.*}}, %[[GO:.*]] = %{{.*}}) : (i64, i1) -> (i64, i1)
  // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[N]] : i64
  // CHECK: %[[BOTH:.*]] = arith.andi %[[MORE]], %[[GO]] : i1
  // CHECK: scf.condition(%[[BOTH]]) %[[I]], %[[GO]]
  // CHECK: %[[S:.*]] = host.slot
  // CHECK: host.copy %[[B]] to %[[S]]
  // CHECK: %[[T:.*]] = host.slot
  // CHECK: host.copy %[[A]] to %[[T]]
  // CHECK: host.copy %[[S]] to %[[A]]
  // CHECK: host.copy %[[T]] to %[[B]]
  %r:2 = "graph.loop"(%n, %x, %y) <{operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    graph.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

#more = affine_map<()[s0] -> (s0 + 4)>
#s0 = affine_map<()[s0] -> (s0)>
func.func private @grow(memref<?xf32> {adze.dims = #s0}, memref<?xf32> {adze.dims = #more}) attributes {adze.kernel}

// A carried value that grows is in a separate box, and its size in a symbol.
// CHECK-LABEL: func.func @grow_loop(
// CHECK-SAME: adze.num_boxes = 2
func.func @grow_loop(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?xf32, #s0> attributes {graph.symbols = [""]} {
  // CHECK: host.slot {box = 0 : i64, size = 16 : i64} : memref<4xf32>
  // CHECK: host.assign {symbols = array<i64: 0>, values = #{{.*}}}
  // CHECK: scf.while
  // CHECK: %[[OLD:.*]] = host.slot {box = 0 : i64, keep = #[[BYTES:.*]], size = #[[BYTES]]} : memref<?xf32>
  // CHECK: %[[NEW:.*]] = host.slot {box = 1 : i64, size = #{{.*}}} : memref<?xf32>
  // CHECK: host.launch @grow(%[[OLD]], %[[NEW]])
  // CHECK: %[[NEXT:.*]] = host.slot {box = 0 : i64, size = #{{.*}}} : memref<?xf32>
  // CHECK: host.copy %[[NEW]] to %[[NEXT]]
  // CHECK: host.assign {symbols = array<i64: 0>, values = #{{.*}}}
  %r = "graph.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64: 0>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #s0>):
    %b = host.launch @grow(%a) : (tensor<?xf32, #s0>) -> tensor<?xf32, #more>
    graph.yield %b : tensor<?xf32, #more>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<?xf32, #s0>
  return %r : tensor<?xf32, #s0>
}

// -----

// A symbol with the value of an expression: the host computes it before its users.
#x = affine_map<()[s0] -> (s0)>
#y = affine_map<()[s0, s1] -> (s1)>
func.func private @fill(memref<?xf32> {adze.dims = #x}, memref<?xf32> {adze.dims = #y}) attributes {adze.kernel}
// CHECK-LABEL: func.func @named(
// CHECK: host.assign {symbols = array<i64: 1>, values = #{{.*}}}
// CHECK-NEXT: host.output
// CHECK-NEXT: host.launch @fill
func.func @named(%x: tensor<?xf32, #x>) -> tensor<?xf32, #y> attributes {graph.symbols = ["n", ""]} {
  graph.assign {symbols = array<i64: 1>, values = affine_map<()[s0] -> (s0 * 3)>}
  %0 = host.launch @fill(%x) : (tensor<?xf32, #x>) -> tensor<?xf32, #y>
  return %0 : tensor<?xf32, #y>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#cut = affine_map<()[s0] -> (s0 - 3)>
func.func private @cut(memref<?xf32> {adze.dims = #n}, memref<?xf32> {adze.dims = #cut}) attributes {adze.kernel}
func.func private @last(memref<?xf32> {adze.dims = #cut}, memref<f32>) attributes {adze.kernel}

// A check for each kind of condition; values that may have a negative size where they are
// not computed are outside of the arena.
// CHECK-LABEL: func.func @assume(
// CHECK: scf.if
// CHECK-NEXT: %[[SHAPES:.*]] = host.holds {broadcasts = [#{{.*}}]} : i1
// CHECK-NEXT: host.check %[[SHAPES]], "expected shapes that broadcast"
// CHECK-NEXT: %[[SIZES:.*]] = host.holds {equalities = [#{{.*}}]} : i1
// CHECK-NEXT: host.check %[[SIZES]], "expected sizes that are equal"
// CHECK-NEXT: %[[LARGE:.*]] = host.holds {bounds = [#{{.*}}]} : i1
// CHECK-NEXT: host.check %[[LARGE]], "expected larger sizes"
// CHECK-NEXT: host.slot {box = 0 : i64, size = #{{.*}}}
// CHECK: host.slot {offset = {{.*}}, size = #{{.*}}}
func.func @assume(%c: tensor<i1>, %x: tensor<?xf32, #n>, %y: tensor<f32>) -> tensor<f32> attributes {graph.symbols = ["n"]} {
  %r = graph.if %c : (tensor<i1>) -> tensor<f32> {
    graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 16)>], equalities = [affine_map<()[s0] -> (s0, 7)>], bounds = [#cut]}
    %0 = host.launch @cut(%x) : (tensor<?xf32, #n>) -> tensor<?xf32, #cut>
    %1 = host.launch @last(%0) : (tensor<?xf32, #cut>) -> tensor<f32>
    %2 = host.launch @same(%x) : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    %3 = host.launch @all(%2, %1) : (tensor<?xf32, #n>, tensor<f32>) -> tensor<f32>
    graph.yield %3 : tensor<f32>
  } else {
    graph.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func private @same(memref<?xf32> {adze.dims = #n}, memref<?xf32> {adze.dims = #n}) attributes {adze.kernel}
func.func private @all(memref<?xf32> {adze.dims = #n}, memref<f32>, memref<f32>) attributes {adze.kernel}
