// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=3 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=FEW
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=19 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=MANY
// RUN: aopt %t.mlir --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU

// Constant weights, their scales and zero points are packed alike in all versions: those of 16
// columns and four blocks are contiguous. A thread loads four words of a column at once, and
// their scales.
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 16, d1 floordiv 4, d0 mod 16, d2, d1 mod 4)>
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 16, d1 floordiv 4, d0 mod 16, d1 mod 4)>
// CHECK: tile.kernel @packed({{.*}}: memref<48x8x4xi32, #[[WORDS]]>, {{.*}}: memref<48x8xf16, #[[BLOCKS]]>, {{.*}}: memref<48x8xi8, #[[BLOCKS]]>
// CHECK: tile.kernel @packed_few({{.*}}: memref<48x8x4xi32, #[[WORDS]]>, {{.*}}: memref<48x8xf16, #[[BLOCKS]]>, {{.*}}: memref<48x8xi8, #[[BLOCKS]]>
// Six blocks are no multiple of four, and 40 columns none of 16.
// CHECK: tile.kernel @blocks({{.*}}: memref<48x6x4xi32>, {{.*}}: memref<48x6xf16>
// CHECK: tile.kernel @columns({{.*}}: memref<40x8x4xi32>, {{.*}}: memref<40x8xf16>

// FEW-DAG: packed_few: {{[1-9].*}} agree
// FEW-DAG: blocks_few: {{[1-9].*}} agree
// FEW-DAG: columns_few: {{[1-9].*}} agree
// MANY-DAG: packed_to_256: {{[1-9].*}} agree
// MANY-DAG: blocks_to_256: {{[1-9].*}} agree

// GPU: llvm.func @packed_few(
// GPU: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// GPU: nvvm.mma.sync

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 8, 4, 8)>
#b = affine_map<()[s0] -> (s0, 6, 4, 8)>
#y = affine_map<()[s0] -> (s0, 48)>
#c = affine_map<()[s0] -> (s0, 40)>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<?x8x4x8xf16, #x>, %b: tensor<?x6x4x8xf16, #b>) -> (tensor<?x48xf16, #y>, tensor<?x48xf16, #y>, tensor<?x40xf16, #c>)
      attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1> : tensor<48x8x4xi32>
    %s = graph.constant dense<1.0> : tensor<48x8xf16>
    %z = graph.constant dense<3> : tensor<48x8xui8>
    %v = graph.constant dense<1> : tensor<48x6x4xi32>
    %t = graph.constant dense<1.0> : tensor<48x6xf16>
    %u = graph.constant dense<1> : tensor<40x8x4xi32>
    %r = graph.constant dense<1.0> : tensor<40x8xf16>
    %0 = host.launch @packed(%x, %w, %s, %z) : (tensor<?x8x4x8xf16, #x>, tensor<48x8x4xi32>, tensor<48x8xf16>, tensor<48x8xui8>) -> tensor<?x48xf16, #y>
    %1 = host.launch @blocks(%b, %v, %t) : (tensor<?x6x4x8xf16, #b>, tensor<48x6x4xi32>, tensor<48x6xf16>) -> tensor<?x48xf16, #y>
    %2 = host.launch @columns(%x, %u, %r) : (tensor<?x8x4x8xf16, #x>, tensor<40x8x4xi32>, tensor<40x8xf16>) -> tensor<?x40xf16, #c>
    return %0, %1, %2 : tensor<?x48xf16, #y>, tensor<?x48xf16, #y>, tensor<?x40xf16, #c>
  }
  func.func private @packed(%x: tensor<?x8x4x8xf16, #x>, %w: tensor<48x8x4xi32>, %s: tensor<48x8xf16>, %z: tensor<48x8xui8>) -> tensor<?x48xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %z {bits = 4 : i64} : (tensor<?x8x4x8xf16, #x>, tensor<48x8x4xi32>, tensor<48x8xf16>, tensor<48x8xui8>) -> tensor<?x48xf16, #y>
    return %0 : tensor<?x48xf16, #y>
  }
  func.func private @blocks(%x: tensor<?x6x4x8xf16, #b>, %w: tensor<48x6x4xi32>, %s: tensor<48x6xf16>) -> tensor<?x48xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x6x4x8xf16, #b>, tensor<48x6x4xi32>, tensor<48x6xf16>) -> tensor<?x48xf16, #y>
    return %0 : tensor<?x48xf16, #y>
  }
  func.func private @columns(%x: tensor<?x8x4x8xf16, #x>, %w: tensor<40x8x4xi32>, %s: tensor<40x8xf16>) -> tensor<?x40xf16, #c> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x8x4x8xf16, #x>, tensor<40x8x4xi32>, tensor<40x8xf16>) -> tensor<?x40xf16, #c>
    return %0 : tensor<?x40xf16, #c>
  }
}
