// RUN: aopt %s -split-input-file -verify-diagnostics

func.func private @add(memref<4xf32>, memref<4xf32>, memref<4xf32>)

func.func @launch_c1(%x: memref<4xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{expected all operands to be tensors or all to be memrefs, but got both}}
  host.launch @add(%x, %t, %x) : (memref<4xf32>, tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @launch_c2(%x: memref<4xf32>) {
  // expected-error@+1 {{expected 'nobody' to be a function or kernel}}
  host.launch @nobody(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @add(memref<4xf32>, memref<4xf32>, memref<4xf32>)

func.func @launch_c3(%x: memref<4xf32>) {
  // expected-error@+1 {{expected 3 arguments for 'add', but got 2}}
  host.launch @add(%x, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func private @add(memref<4xf32>, memref<4xf32>, memref<4xf32>)

func.func @launch_c4(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{expected arguments 2 to fit 'memref<4xf32>', but got 'memref<5xf32>'}}
  host.launch @add(%x, %x, %y) : (memref<4xf32>, memref<4xf32>, memref<5xf32>) -> ()
  return
}

// -----

func.func @slot_size() {
  // expected-error@+1 {{expected 'size' to be a map from symbols to one result}}
  %0 = host.slot {size = affine_map<(d0) -> (d0)>} : memref<4xf32>
  return
}

// -----

func.func @slot_c1() {
  %0 = host.slot {offset = 0 : i64, size = 16 : i64} : memref<4xf32>
  // expected-error@+1 {{expected an offset or preceding slots, but got both}}
  %1 = host.slot after(%0 : memref<4xf32>) {offset = 0 : i64, size = 16 : i64} : memref<4xf32>
  return
}

// -----

func.func @slot_c2(%x: memref<4xf32>) {
  // expected-error@+1 {{expected preceding slots, but got}}
  %0 = host.slot after(%x : memref<4xf32>) {size = 16 : i64} : memref<4xf32>
  return
}

// -----

func.func @constant_shape() {
  // expected-error@+1 {{expected a memref of shape}}
  %0 = host.constant dense<1.0> : tensor<4xf32> -> memref<5xf32>
  return
}

// -----

func.func @slot_box() {
  // expected-error@+1 {{expected an offset or a box, but got both}}
  %0 = host.slot {size = 16 : i64, offset = 0 : i64, box = 0 : i64} : memref<4xf32>
  return
}

// -----

func.func @output_of_nothing() {
  %0 = host.slot {size = 16 : i64} : memref<4xf32>
  // expected-error@+1 {{expected an argument of the host program}}
  %1 = host.output %0 : memref<4xf32>
  return
}

// -----

func.func @assign_too_few() {
  // expected-error@+1 {{expected a map from symbols to 2 results}}
  host.assign {symbols = array<i64: 1, 2>, values = affine_map<()[s0] -> (s0)>}
  return
}

// -----

func.func @size_of_dims() {
  // expected-error@+1 {{expected a map from symbols to one result, but got}}
  %n = host.size {value = affine_map<(d0) -> (d0)>}
  return
}

// -----

func.func @sizes() {
  // expected-error@+1 {{expected a map from symbols to one result, but got}}
  %n = host.size {value = affine_map<()[s0] -> (s0, s0)>}
  return
}

// -----

func.func @call_c1(%x: memref<4xf32>) {
  // expected-error @+1 {{expected a type and a rank of each value, but got 1 and 2}}
  host.call "f"(%x) {dims = affine_map<() -> (4, 4)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32]} : memref<4xf32>
  return
}

// -----

func.func @call_inputs(%x: memref<4xf32>) {
  // expected-error @+1 {{expected a type and a rank of each value, but got 1 and 1}}
  host.call "f"(%x, %x) {dims = affine_map<() -> (4)>, ranks = array<i64: 1>, symbols = array<i64: -1>, types = [f32]} : memref<4xf32>, memref<4xf32>
  return
}

// -----

func.func @call_c2(%x: memref<4xf32>) {
  // expected-error @+1 {{expected 2 dims and symbols, but got 1 and 2}}
  host.call "f"(%x) {dims = affine_map<() -> (4)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32, f32]} : memref<4xf32>
  return
}

// -----

func.func @call_ranks(%x: memref<4xf32>) {
  // expected-error @+1 {{expected ranks of at least 0, but got -1}}
  host.call "f"(%x) {dims = affine_map<() -> ()>, ranks = array<i64: 1, -1>, symbols = array<i64>, types = [f32, f32]} : memref<4xf32>
  return
}

// -----

func.func private @add(memref<4xf32>, memref<4xf32>)

func.func @launch_c5(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{expected 'steps' to be a map from symbols to one result}}
  host.launch @add(%x, %y) {steps = affine_map<()[s0] -> (s0, 1)>} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func private @add(memref<4xf32>, memref<4xf32>)

func.func @launch_c5_groups(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{expected 'groups' to be a map from symbols to one result}}
  host.launch @add(%x, %y) {steps = 3 : i64, groups = affine_map<()[s0] -> (s0, 1)>} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func private @add(memref<4xf32>, memref<4xf32>)

func.func @launch_c6(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{expected groups of a launch in steps}}
  host.launch @add(%x, %y) {groups = 2 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @check_range_bounds(%x: memref<i64>) {
  // expected-error@+1 {{expected a map from symbols to two bounds, but got affine_map<() -> (4)>}}
  host.check_range %x, %x, "no" {range = affine_map<() -> (4)>} : memref<i64>
  return
}

// -----

func.func @transform_c1(%w: memref<20x8x1x2xf32>) {
  %m = host.constant dense<1.0> : tensor<3x2xf32> -> memref<3x2xf32>
  // expected-error@+1 {{expected operands that are constants without a layout}}
  %0 = host.transform %w, %m : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  return
}

// -----

func.func @transform_c2() {
  %w = host.constant dense<0.5> : tensor<20x8x1x2xf32> -> memref<20x8x1x2xf32>
  %m = host.constant dense<1.0> : tensor<3x2xf32> -> memref<3x2xf32>
  // expected-error@+1 {{expected a layout of panels of outputs and groups of inputs, but got affine_map<(d0, d1, d2) -> (d2, d1, d0)>}}
  %0 = host.transform %w, %m {layout = affine_map<(d0, d1, d2) -> (d2, d1, d0)>} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  return
}

// -----

func.func @transform_ranks() {
  %w = host.constant dense<0.5> : tensor<20x8xf32> -> memref<20x8xf32>
  %m = host.constant dense<1.0> : tensor<3x2xf32> -> memref<3x2xf32>
  // expected-error@+1 {{expected a filter [O, C, kernel..], a matrix [P, K] and a result [P, C, O], but got}}
  %0 = host.transform %w, %m : memref<20x8xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
  return
}
