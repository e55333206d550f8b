// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: aopt %t.mlir --tile-specialize --convert-tile-to-gpu | FileCheck %s --check-prefix=THREADS
// RUN: cuda-emulate %t.mlir --symbols=2 --tolerance=1e-5 | FileCheck %s --check-prefix=EMULATED

// A program has some patches of a row of an image, whose elements are loaded with a step.
// Pixels out of bounds are zero.
// CHECK-LABEL: tile.kernel @input(
// CHECK: tile.program_id(
// CHECK-COUNT-36: tile.load %arg0{{.*}} strides [4, 1]
// CHECK-COUNT-36: tile.store
// CHECK-NOT: tile.store
// CHECK: tile.return

// Each thread has one element of all places of a patch: 3 patches of 24 channels.
// THREADS: llvm.func @input({{.*}}adze.threads = 128

// The filter is packed, as [window, inputs, outputs].
// CHECK-LABEL: tile.kernel @filter(
// CHECK-COUNT-9: tile.load
// CHECK-COUNT-16: tile.store
// CHECK-NOT: tile.store
// CHECK: tile.return

// The pixels are stored with bias and activation; those beyond the image are not.
// CHECK-LABEL: tile.kernel @output(
// CHECK-COUNT-36: tile.load %arg0
// CHECK: tile.load %arg1
// CHECK: arith.maximumf
// CHECK: tile.store {{.*}}, %arg2{{.*}} strides [4, 1]
// CHECK: tile.return

// EMULATED-DAG: input: {{.*}} agree
// EMULATED-DAG: filter: {{.*}} agree
// EMULATED-DAG: output: {{.*}} agree
#x = affine_map<()[s0] -> (s0, 7, 9, 24)>
#p = affine_map<()[s0] -> (36, s0, 2, 3, 24)>
#y = affine_map<()[s0] -> (s0, 7, 9, 24)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  func.func @main(%x: tensor<?x7x9x24xf32, #x>, %b: tensor<24xf32>) -> (tensor<16x40x24xf32>, tensor<?x7x9x24xf32, #y>) attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1.0> : tensor<24x40x3x3xf32>
    %0 = host.launch @input(%x) : (tensor<?x7x9x24xf32, #x>) -> tensor<36x?x2x3x24xf32, #p>
    %1 = host.launch @filter(%w) : (tensor<24x40x3x3xf32>) -> tensor<16x40x24xf32>
    %2 = host.launch @output(%0, %b) : (tensor<36x?x2x3x24xf32, #p>, tensor<24xf32>) -> tensor<?x7x9x24xf32, #y>
    return %1, %2 : tensor<16x40x24xf32>, tensor<?x7x9x24xf32, #y>
  }
  func.func private @input(%x: tensor<?x7x9x24xf32, #x>) -> tensor<36x?x2x3x24xf32, #p> attributes {adze.kernel} {
    %0 = graph.winograd_input %x {pads = array<i64: 1, 1, 1, 1>, tile = 4 : i64} : (tensor<?x7x9x24xf32, #x>) -> tensor<36x?x2x3x24xf32, #p>
    return %0 : tensor<36x?x2x3x24xf32, #p>
  }
  func.func private @filter(%w: tensor<24x40x3x3xf32>) -> tensor<16x40x24xf32> attributes {adze.kernel} {
    %0 = graph.winograd_filter %w {tile = 2 : i64} : (tensor<24x40x3x3xf32>) -> tensor<16x40x24xf32>
    return %0 : tensor<16x40x24xf32>
  }
  func.func private @output(%p: tensor<36x?x2x3x24xf32, #p>, %b: tensor<24xf32>) -> tensor<?x7x9x24xf32, #y> attributes {adze.kernel} {
    %0 = graph.winograd_output %p {size = array<i64: 7, 9>, tile = 4 : i64} : (tensor<36x?x2x3x24xf32, #p>) -> tensor<?x7x9x24xf32, #y>
    %1 = graph.add %0, %b : (tensor<?x7x9x24xf32, #y>, tensor<24xf32>) -> tensor<?x7x9x24xf32, #y>
    %2 = graph.relu %1 : (tensor<?x7x9x24xf32, #y>) -> tensor<?x7x9x24xf32, #y>
    return %2 : tensor<?x7x9x24xf32, #y>
  }
}
