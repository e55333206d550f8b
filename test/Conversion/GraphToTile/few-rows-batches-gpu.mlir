// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: cuda-emulate %t.mlir --symbols=2,2 --tolerance=1e-5 | FileCheck %s --check-prefix=FEW
// RUN: cuda-emulate %t.mlir --symbols=12,1 --tolerance=1e-5 | FileCheck %s --check-prefix=MORE
// RUN: cuda-emulate %t.mlir --symbols=26,10 --tolerance=1e-5 | FileCheck %s --check-prefix=HUNDREDS

// The slice keeps the batches of the versions for many rows apart. The version for few rows
// merges them. All have bounds for the rows of all batches, so that one of them has programs.
// CHECK-LABEL: tile.kernel @product(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi ugt, %[[ROWS]], %c1024
// CHECK: tile.program_id(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-LABEL: tile.kernel @product_to_1024(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi ugt, %[[ROWS]], %c256
// CHECK: arith.cmpi ule, %[[ROWS]], %c1024
// CHECK-LABEL: tile.kernel @product_to_256(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi ugt, %[[ROWS]], %c8
// CHECK: arith.cmpi ule, %[[ROWS]], %c256
// CHECK-LABEL: tile.kernel @product_few(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi ule, %[[ROWS]], %c8

// FEW-DAG: product: 0 programs
// FEW-DAG: product_to_1024: 0 programs
// FEW-DAG: product_to_256: 0 programs
// FEW-DAG: product_few: {{[1-9][0-9]*}} programs of {{.*}} agree
// MORE-DAG: product: 0 programs
// MORE-DAG: product_to_1024: 0 programs
// MORE-DAG: product_to_256: {{[1-9][0-9]*}} programs of {{.*}} agree
// MORE-DAG: product_few: 0 programs
// HUNDREDS-DAG: product: 0 programs
// HUNDREDS-DAG: product_to_1024: {{[1-9][0-9]*}} programs of {{.*}} agree
// HUNDREDS-DAG: product_to_256: 0 programs
// HUNDREDS-DAG: product_few: 0 programs
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
#x = affine_map<()[s0, s1] -> (s0, s1, 256)>
#z = affine_map<()[s0, s1] -> (s0, s1 + 1, 24)>
#y = affine_map<()[s0, s1] -> (s0, s1, 24)>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<?x?x256xf32, #x>, %z: tensor<?x?x24xf32, #z>) -> tensor<?x?x24xf32, #y>
      attributes {graph.symbols = ["N", "L"]} {
    %w = graph.constant dense<1.0> : tensor<256x24xf32>
    %0 = host.launch @product(%x, %w, %z) : (tensor<?x?x256xf32, #x>, tensor<256x24xf32>, tensor<?x?x24xf32, #z>) -> tensor<?x?x24xf32, #y>
    return %0 : tensor<?x?x24xf32, #y>
  }
  func.func private @product(%x: tensor<?x?x256xf32, #x>, %w: tensor<256x24xf32>, %z: tensor<?x?x24xf32, #z>) -> tensor<?x?x24xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x?x256xf32, #x>, tensor<256x24xf32>) -> tensor<?x?x24xf32, #y>
    %1 = graph.slice %z {starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x?x24xf32, #z>) -> tensor<?x?x24xf32, #y>
    %2 = graph.add %0, %1 : (tensor<?x?x24xf32, #y>, tensor<?x?x24xf32, #y>) -> tensor<?x?x24xf32, #y>
    return %2 : tensor<?x?x24xf32, #y>
  }
}
