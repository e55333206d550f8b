// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: cuda-emulate %t.mlir --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED

// Zero points are bytes, which are converted once for each block.
// CHECK: tile.kernel @zeros(
// CHECK: arith.uitofp %{{.*}} : tensor<?x?x4xi8> to tensor<?x?x4xf16>
// EMULATED-DAG: zeros: {{[1-9].*}} agree

// Many rows are multiplied by weights of 16 bits: the difference from the zero point is exact, so
// that the product with the scale is rounded once.
// CHECK: tile.kernel @many(
// CHECK: arith.uitofp %{{.*}} : tensor<?x?xi8> to tensor<?x?xf16>
// CHECK: %[[PLACED:.*]] = tile.bitcast %{{.*}} to f16 : tensor<?x?x?x8xi32> -> tensor<?x?x?x8x2xf16>
// CHECK: %[[NUMBERS:.*]] = arith.subf %[[PLACED]], {{.*}} : tensor<?x?x?x8x2xf16>
// CHECK: arith.mulf %[[NUMBERS]], {{.*}} : tensor<?x?x?x8x2xf16>
// CHECK: tile.dot %{{.*}} : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
// EMULATED-DAG: many: {{[1-9].*}} agree

// Blocks of 16 elements have two words, so the four lanes share the places in them.
// CHECK: tile.kernel @words(
// EMULATED-DAG: words: {{[1-9].*}} agree

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {
  func.func private @zeros(%x: tensor<3x4x2x16xf16>, %w: tensor<24x4x2xi32>, %s: tensor<24x4xf16>, %z: tensor<24x4xui8>, %b: tensor<24xf16>) -> tensor<3x24xf16> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %z {bits = 2 : i64} : (tensor<3x4x2x16xf16>, tensor<24x4x2xi32>, tensor<24x4xf16>, tensor<24x4xui8>) -> tensor<3x24xf16>
    %1 = graph.add %0, %b : (tensor<3x24xf16>, tensor<24xf16>) -> tensor<3x24xf16>
    return %1 : tensor<3x24xf16>
  }
  func.func private @many(%x: tensor<33x4x2x16xf16>, %w: tensor<64x4x2xi32>, %s: tensor<64x4xf16>, %z: tensor<64x4xui8>) -> tensor<33x64xf16> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %z {bits = 2 : i64} : (tensor<33x4x2x16xf16>, tensor<64x4x2xi32>, tensor<64x4xf16>, tensor<64x4xui8>) -> tensor<33x64xf16>
    return %0 : tensor<33x64xf16>
  }
  func.func private @words(%x: tensor<3x6x2x8xf16>, %w: tensor<40x6x2xi32>, %s: tensor<40x6xf16>, %o: tensor<40x6xui8>) -> tensor<3x40xf16> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %o {bits = 4 : i64} : (tensor<3x6x2x8xf16>, tensor<40x6x2xi32>, tensor<40x6xf16>, tensor<40x6xui8>) -> tensor<3x40xf16>
    return %0 : tensor<3x40xf16>
  }
}
