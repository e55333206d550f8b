// RUN: aopt %s | aopt | FileCheck %s
// RUN: aopt %s --mlir-print-op-generic | aopt | FileCheck %s

func.func private @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: host.launch @add(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = host.launch @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @places
func.func @places(%x: memref<4xf32>, %y: memref<2x2xf32>) {
  // CHECK: %[[SLOT:.*]] = host.slot {size = 16 : i64} : memref<4xf32>
  %slot = host.slot {size = 16 : i64} : memref<4xf32>
  // CHECK: %[[CONSTANT:.*]] = host.constant dense<1.000000e+00> : tensor<4xf32> -> memref<4xf32>
  %constant = host.constant dense<1.0> : tensor<4xf32> -> memref<4xf32>
  // CHECK: host.launch @add(%{{.*}}, %[[CONSTANT]], %[[SLOT]])
  host.launch @add(%x, %constant, %slot) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  // CHECK: %[[VIEW:.*]] = host.view %[[SLOT]] : memref<4xf32> -> memref<2x2xf32>
  %view = host.view %slot : memref<4xf32> -> memref<2x2xf32>
  // CHECK: host.copy %[[VIEW]] to %{{.*}} {size = 16 : i64} : memref<2x2xf32> to memref<2x2xf32>
  host.copy %view to %y {size = 16 : i64} : memref<2x2xf32> to memref<2x2xf32>
  return
}

// CHECK-LABEL: @data
func.func @data(%y: memref<?xi64>, %flag: memref<i1>, %count: memref<1xi64>, %number: memref<i64>) {
  // CHECK: host.bind %{{.*}} {symbols = array<i64: 1>} : memref<1xi64>
  host.bind %count {symbols = array<i64: 1>} : memref<1xi64>
  // CHECK: host.assign {symbols = array<i64: 2>, values = #{{.*}}}
  host.assign {symbols = array<i64: 2>, values = affine_map<()[s0, s1] -> (s0 + s1)>}
  // CHECK: host.slot {box = 3 : i64, keep = 8 : i64, size = #{{.*}}} : memref<?xf32>
  %box = host.slot {size = affine_map<()[s0, s1] -> (s1 * 4)>, box = 3 : i64, keep = 8 : i64} : memref<?xf32>
  // CHECK: host.output %{{.*}} : memref<?xi64>
  %out = host.output %y : memref<?xi64>
  // CHECK: %[[FLAG:.*]] = host.read %{{.*}} : memref<i1> -> i1
  %0 = host.read %flag : memref<i1> -> i1
  // CHECK: host.check %[[FLAG]], "expected so"
  host.check %0, "expected so"
  // CHECK: host.check_range %{{.*}}, %{{.*}}, "out of [{1}, {2})" {range = #{{.*}}} : memref<i64>
  host.check_range %number, %number, "out of [{1}, {2})" {range = affine_map<()[s0] -> (-s0, s0)>} : memref<i64>
  // CHECK: host.holds {bounds = [#{{.*}}], broadcasts = [#{{.*}}], equalities = [#{{.*}}]} : i1
  %fit = host.holds {broadcasts = [affine_map<()[s0] -> (s0, 16)>], equalities = [affine_map<()[s0, s1] -> (s0, s1)>], bounds = [affine_map<()[s0] -> (s0 - 3)>]} : i1
  // CHECK: %[[N:.*]] = host.read %{{.*}} : memref<i64> -> i64
  %1 = host.read %number : memref<i64> -> i64
  // CHECK: host.write %[[N]] to %{{.*}} : i64 to memref<i64>
  host.write %1 to %number : i64 to memref<i64>
  return
}

// CHECK-LABEL: @symbolic
func.func @symbolic() {
  // CHECK: host.slot {offset = 0 : i64, size = #{{.*}}} : memref<?xf32>
  %slot = host.slot {size = affine_map<()[s0] -> (s0 * 4)>, offset = 0 : i64} : memref<?xf32>
  // CHECK: %[[FIRST:.*]] = host.slot {offset = 0 : i64, size = 8 : i64}
  %first = host.slot {size = 8 : i64, offset = 0 : i64} : memref<2xf32>
  // CHECK: host.slot after(%{{.*}}, %[[FIRST]] : memref<?xf32>, memref<2xf32>) {size = 16 : i64} : memref<4xf32>
  %second = host.slot after(%slot, %first : memref<?xf32>, memref<2xf32>) {size = 16 : i64} : memref<4xf32>
  return
}

// CHECK-LABEL: @state
func.func @state() {
  // CHECK: host.state 1 {pitch = 4 : i64} : memref<?x8xf32>
  %buffer = host.state 1 {pitch = 4 : i64} : memref<?x8xf32>
  return
}

// CHECK-LABEL: @size
func.func @size() -> index {
  // CHECK: host.size {value = #{{.*}}}
  %n = host.size {value = affine_map<()[s0, s1] -> (s0 * s1)>}
  return %n : index
}

func.func private @step(memref<?xf32>, memref<?xf32>)

// CHECK-LABEL: @steps
func.func @steps(%x: memref<?xf32>, %y: memref<?xf32>) {
  // CHECK: host.launch @step(%{{.*}}, %{{.*}}) {steps = #{{.*}}} :
  host.launch @step(%x, %y) {steps = affine_map<()[s0] -> (s0)>} : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.launch @step(%{{.*}}, %{{.*}}) {steps = 3 : i64} :
  host.launch @step(%x, %y) {steps = 3 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: host.launch @step(%{{.*}}, %{{.*}}) {groups = #{{.*}}, steps = 3 : i64} :
  host.launch @step(%x, %y) {steps = 3 : i64, groups = affine_map<()[s0] -> (s0)>} : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: @transform
func.func @transform() -> memref<3x8x20xf32> {
  %w = host.constant dense<0.5> : tensor<20x8x1x2xf32> -> memref<20x8x1x2xf32>
  %m = host.constant dense<1.0> : tensor<3x2xf32> -> memref<3x2xf32>
  // CHECK: host.transform %{{.*}}, %{{.*}} {offset = 64 : i64} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  %0 = host.transform %w, %m {offset = 64 : i64} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  // CHECK: host.transform %{{.*}}, %{{.*}} {layout = #{{.*}}} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  %1 = host.transform %w, %m {layout = affine_map<(d0, d1, d2) -> (d2 floordiv 16, d0, d1 floordiv 2, d2 mod 16, d1 mod 2)>} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  return %1 : memref<3x8x20xf32>
}
