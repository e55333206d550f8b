// RUN: aopt %s --assign-destinations --split-input-file --verify-diagnostics | FileCheck %s

func.func private @k(memref<2x4xf32>, memref<2x4xf32>) attributes {adze.kernel}

// A launch's result is written to the output directly, through the reshape; intermediate
// values get a slot.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: memref<2x4xf32> {graph.name = "x"},
// CHECK-SAME: %[[Y:.*]]: memref<8xf32> {graph.name = "y"})
// CHECK-SAME: adze.num_inputs = 1
func.func @chain(%x: tensor<2x4xf32> {graph.name = "x"}) -> (tensor<8xf32> {graph.name = "y"}) {
  // CHECK: %[[SLOT:.*]] = host.slot {size = 32 : i64} : memref<2x4xf32>
  // CHECK: host.launch @k(%[[X]], %[[SLOT]])
  %0 = host.launch @k(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[VIEW:.*]] = host.view %[[Y]] : memref<8xf32> -> memref<2x4xf32>
  // CHECK: host.launch @k(%[[SLOT]], %[[VIEW]])
  %1 = host.launch @k(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %shape = graph.constant dense<8> : tensor<1xi64>
  %2 = graph.reshape %1, %shape : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// Outputs that no launch writes are copied: an input, a constant, a value that is an
// output already.
// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4xf32>,
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<4xf32>, %[[B:[a-z0-9]*]]: memref<4xf32>,
// CHECK-SAME: %[[C:[a-z0-9]*]]: memref<4xf32>, %[[D:[a-z0-9]*]]: memref<4xf32>)
func.func @copies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: %[[W:.*]] = host.constant dense
  // CHECK: host.launch @k(%[[X]], %[[A]])
  %0 = host.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: host.copy %[[A]] to %[[B]] {size = 16 : i64}
  // CHECK: host.copy %[[X]] to %[[C]]
  // CHECK: host.copy %[[W]] to %[[D]]
  return %0, %0, %x, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

#rows = affine_map<()[s0] -> (s0, 4)>
func.func private @k(memref<?x4xf16> {adze.dims = #rows}, memref<?x4xf16> {adze.dims = #rows}) attributes {adze.kernel}

// Symbolic sizes: bytes with the constant factor last, dims on the arguments.
// CHECK: #[[ROWS:.*]] = affine_map<()[s0] -> (s0, 4)>
// CHECK: #[[BYTES:.*]] = affine_map<()[s0] -> (s0 * 8)>
// CHECK-LABEL: func.func @symbolic(
// CHECK-SAME: memref<?x4xf16> {adze.dims = #[[ROWS]]}
// CHECK: host.slot {size = #[[BYTES]]} : memref<?x4xf16>
func.func @symbolic(%x: tensor<?x4xf16, #rows>) -> tensor<?x4xf16, #rows> attributes {graph.symbols = ["n"]} {
  %0 = host.launch @k(%x) : (tensor<?x4xf16, #rows>) -> tensor<?x4xf16, #rows>
  %1 = host.launch @k(%0) : (tensor<?x4xf16, #rows>) -> tensor<?x4xf16, #rows>
  return %1 : tensor<?x4xf16, #rows>
}

// -----

#panels = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
func.func private @k(memref<4x8xf32, #panels>, memref<4xf32>) attributes {adze.kernel}

// A kernel with a packed constant gets it packed.
// CHECK-LABEL: func.func @packed(
// CHECK: host.constant dense<1.000000e+00> : tensor<4x8xf32> {layout = #{{.*}}} -> memref<4x8xf32>
func.func @packed() -> tensor<4xf32> {
  %w = graph.constant dense<1.0> : tensor<4x8xf32>
  %0 = host.launch @k(%w) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @k(memref<4xui8>, memref<4xi8>) attributes {adze.kernel}

// Memory is signless; the signature has the signedness.
// CHECK-LABEL: func.func @signs(
// CHECK-SAME: memref<4xi8> {adze.dtype = ui8}, %{{.*}}: memref<4xi8>)
func.func @signs(%x: tensor<4xui8>) -> tensor<4xi8> {
  %0 = host.launch @k(%x) : (tensor<4xui8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// expected-error@+1 {{unsupported: expected sizes known from the inputs' shapes, but got 'tensor<?xf32>'}}
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = host.launch @k(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @not_host(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a launch, a constant or a reshape in the host program}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#panels = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
func.func private @k(memref<4x8xf32, #panels>, memref<4xf32>) attributes {adze.kernel}

func.func @not_constant(%w: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected operand 0 to be a constant, because the kernel takes it packed}}
  %0 = host.launch @k(%w) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
