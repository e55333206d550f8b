// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile=batch-invariant | FileCheck %s --check-prefix=INVARIANT
// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=3 --tolerance=1e-3 | FileCheck %s --check-prefix=FEW
// RUN: cuda-emulate %t.mlir --symbols=21 --tolerance=1e-3 | FileCheck %s --check-prefix=TENS
// RUN: cuda-emulate %t.mlir --symbols=300 --tolerance=1e-3 | FileCheck %s --check-prefix=HUNDREDS
// RUN: cuda-emulate %t.mlir --symbols=1025 --tolerance=1e-3 | FileCheck %s --check-prefix=MANY

// Products of an unknown number of rows by constants have versions on GPUs, which share the
// packed constant: columns are contiguous along the depth.
// CHECK: #[[ALONG:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: tile.kernel @dynamic(
// CHECK-SAME: memref<256x24xf16, #[[ALONG]]>
// CHECK-SAME: adze.versions = [@dynamic_to_1024, @dynamic_to_256, @dynamic_few]
// CHECK-SAME: tile.usual_size = 2048 : i64
// CHECK: %[[IS:.*]] = arith.cmpi ugt, %{{.*}}, %c1024
// CHECK: arith.select %[[IS]]
// CHECK: tile.dot
// Other blocks are best for fewer rows.
// CHECK: tile.kernel @dynamic_to_1024(
// CHECK-SAME: tile.usual_size = 512 : i64
// CHECK: %[[ABOVE:.*]] = arith.cmpi ugt, %[[ROWS:.*]], %c256
// CHECK: %[[COUNT:.*]] = arith.select %[[ABOVE]]
// CHECK: %[[MOST:.*]] = arith.cmpi ule, %[[ROWS]], %c1024
// CHECK: arith.select %[[MOST]], %[[COUNT]], %c0
// CHECK: tile.dot
// CHECK: tile.kernel @dynamic_to_256(
// CHECK-SAME: tile.usual_size = 128 : i64
// CHECK: tile.dot
// CHECK: tile.kernel @dynamic_few(
// CHECK-SAME: memref<256x24xf16, #[[ALONG]]>
// CHECK: %[[IS:.*]] = arith.cmpi ule, %{{.*}}, %c4
// CHECK: arith.select %[[IS]]
// CHECK-NOT: tile.dot
// Eight adjacent products of a thread are added at once.
// CHECK: tile.reduce add {{.*}} dim 2 : tensor<?x32x8xf32>
// CHECK: tile.reduce add {{.*}} dim 1 : tensor<?x32xf32>

// A known number of rows needs one version.
// CHECK: tile.kernel @one(
// CHECK-NOT: tile.dot
// CHECK-NOT: arith.cmpi
// CHECK: tile.reduce add
// CHECK: tile.kernel @five(
// CHECK-NOT: arith.cmpi
// CHECK: tile.dot

// So do an operand that is no constant, and a depth of rows that tensor maps do
// not copy.
// CHECK: tile.kernel @activations(
// CHECK-NOT: adze.versions
// CHECK: tile.dot
// CHECK: tile.kernel @unaligned(
// CHECK-NOT: adze.versions
// CHECK: tile.dot

// The bits of a row may not depend on the number of rows.
// INVARIANT-NOT: adze.versions
// INVARIANT-NOT: _few(

// FEW-DAG: dynamic_few: 9 programs of {{.*}} agree
// FEW-DAG: dynamic: 0 programs
// FEW-DAG: one: {{.*}} agree
// TENS-DAG: dynamic_to_256: {{.*}} agree
// TENS-DAG: dynamic: 0 programs
// TENS-DAG: dynamic_to_1024: 0 programs
// TENS-DAG: dynamic_few: 0 programs
// HUNDREDS-DAG: dynamic_to_1024: {{.*}} agree
// HUNDREDS-DAG: dynamic: 0 programs
// HUNDREDS-DAG: dynamic_to_256: 0 programs
// MANY-DAG: dynamic: {{.*}} agree
// MANY-DAG: dynamic_to_1024: 0 programs

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
#x = affine_map<()[s0] -> (s0, 256)>
#y = affine_map<()[s0] -> (s0, 24)>
#u = affine_map<()[s0] -> (s0, 252)>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<?x256xf16, #x>, %r: tensor<1x256xf16>, %f: tensor<5x256xf16>, %b: tensor<256x24xf16>, %u: tensor<?x252xf16, #u>)
      -> (tensor<?x24xf16, #y>, tensor<1x24xf16>, tensor<5x24xf16>, tensor<?x24xf16, #y>, tensor<?x24xf16, #y>)
      attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1.0> : tensor<256x24xf16>
    %v = graph.constant dense<1.0> : tensor<252x24xf16>
    %0 = host.launch @dynamic(%x, %w) : (tensor<?x256xf16, #x>, tensor<256x24xf16>) -> tensor<?x24xf16, #y>
    %1 = host.launch @one(%r, %w) : (tensor<1x256xf16>, tensor<256x24xf16>) -> tensor<1x24xf16>
    %2 = host.launch @five(%f, %w) : (tensor<5x256xf16>, tensor<256x24xf16>) -> tensor<5x24xf16>
    %3 = host.launch @activations(%x, %b) : (tensor<?x256xf16, #x>, tensor<256x24xf16>) -> tensor<?x24xf16, #y>
    %4 = host.launch @unaligned(%u, %v) : (tensor<?x252xf16, #u>, tensor<252x24xf16>) -> tensor<?x24xf16, #y>
    return %0, %1, %2, %3, %4 : tensor<?x24xf16, #y>, tensor<1x24xf16>, tensor<5x24xf16>, tensor<?x24xf16, #y>, tensor<?x24xf16, #y>
  }
  func.func private @dynamic(%x: tensor<?x256xf16, #x>, %w: tensor<256x24xf16>) -> tensor<?x24xf16, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x256xf16, #x>, tensor<256x24xf16>) -> tensor<?x24xf16, #y>
    %1 = graph.relu %0 : (tensor<?x24xf16, #y>) -> tensor<?x24xf16, #y>
    return %1 : tensor<?x24xf16, #y>
  }
  func.func private @one(%x: tensor<1x256xf16>, %w: tensor<256x24xf16>) -> tensor<1x24xf16> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<1x256xf16>, tensor<256x24xf16>) -> tensor<1x24xf16>
    return %0 : tensor<1x24xf16>
  }
  func.func private @five(%x: tensor<5x256xf16>, %w: tensor<256x24xf16>) -> tensor<5x24xf16> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<5x256xf16>, tensor<256x24xf16>) -> tensor<5x24xf16>
    return %0 : tensor<5x24xf16>
  }
  func.func private @activations(%x: tensor<?x256xf16, #x>, %w: tensor<256x24xf16>) -> tensor<?x24xf16, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x256xf16, #x>, tensor<256x24xf16>) -> tensor<?x24xf16, #y>
    return %0 : tensor<?x24xf16, #y>
  }
  func.func private @unaligned(%x: tensor<?x252xf16, #u>, %w: tensor<252x24xf16>) -> tensor<?x24xf16, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x252xf16, #u>, tensor<252x24xf16>) -> tensor<?x24xf16, #y>
    return %0 : tensor<?x24xf16, #y>
  }
}
