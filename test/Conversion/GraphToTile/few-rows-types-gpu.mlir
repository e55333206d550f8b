// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: cuda-emulate %t.mlir --symbols=7 --tolerance=1e-5 | FileCheck %s --check-prefix=EMULATED

// Without a matrix unit, as in f32, up to eight rows have the version for few. With one, as
// in tf32, up to four have.
// CHECK-LABEL: tile.kernel @five(
// CHECK-NOT: tile.dot
// CHECK-LABEL: tile.kernel @five_tf32(
// CHECK: tile.dot
// CHECK-LABEL: tile.kernel @nine(
// CHECK: tile.dot
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK-LABEL: tile.kernel @dynamic_few(
// CHECK: arith.cmpi ule, %{{.*}}, %c8
// CHECK-NOT: tile.dot
// EMULATED-DAG: five: {{[1-9][0-9]*}} programs of {{.*}} agree
// EMULATED-DAG: dynamic: 0 programs
// EMULATED-DAG: dynamic_few: {{[1-9][0-9]*}} programs of {{.*}} agree
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
#x = affine_map<()[s0] -> (s0, 256)>
#y = affine_map<()[s0] -> (s0, 24)>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%f: tensor<5x256xf32>, %n: tensor<9x256xf32>, %x: tensor<?x256xf32, #x>) -> (tensor<5x24xf32>, tensor<5x24xf32>, tensor<9x24xf32>, tensor<?x24xf32, #y>)
      attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1.0> : tensor<256x24xf32>
    %0 = host.launch @five(%f, %w) : (tensor<5x256xf32>, tensor<256x24xf32>) -> tensor<5x24xf32>
    %1 = host.launch @five_tf32(%f, %w) : (tensor<5x256xf32>, tensor<256x24xf32>) -> tensor<5x24xf32>
    %2 = host.launch @nine(%n, %w) : (tensor<9x256xf32>, tensor<256x24xf32>) -> tensor<9x24xf32>
    %3 = host.launch @dynamic(%x, %w) : (tensor<?x256xf32, #x>, tensor<256x24xf32>) -> tensor<?x24xf32, #y>
    return %0, %1, %2, %3 : tensor<5x24xf32>, tensor<5x24xf32>, tensor<9x24xf32>, tensor<?x24xf32, #y>
  }
  func.func private @five(%x: tensor<5x256xf32>, %w: tensor<256x24xf32>) -> tensor<5x24xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<5x256xf32>, tensor<256x24xf32>) -> tensor<5x24xf32>
    return %0 : tensor<5x24xf32>
  }
  func.func private @five_tf32(%x: tensor<5x256xf32>, %w: tensor<256x24xf32>) -> tensor<5x24xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w {graph.precision = tf32} : (tensor<5x256xf32>, tensor<256x24xf32>) -> tensor<5x24xf32>
    return %0 : tensor<5x24xf32>
  }
  func.func private @nine(%x: tensor<9x256xf32>, %w: tensor<256x24xf32>) -> tensor<9x24xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<9x256xf32>, tensor<256x24xf32>) -> tensor<9x24xf32>
    return %0 : tensor<9x24xf32>
  }
  func.func private @dynamic(%x: tensor<?x256xf32, #x>, %w: tensor<256x24xf32>) -> tensor<?x24xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x256xf32, #x>, tensor<256x24xf32>) -> tensor<?x24xf32, #y>
    return %0 : tensor<?x24xf32, #y>
  }
}
