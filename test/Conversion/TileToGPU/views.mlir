// RUN: aopt %s --tile-specialize --convert-tile-to-gpu | FileCheck %s

// A view of memory: rows are mapped by its map, and four columns stay adjacent; if
// columns become rows, none are.
// CHECK-LABEL: llvm.func @view(
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32
// CHECK: llvm.return
tile.kernel @view(%x: memref<64x64xf32> {tile.align = 64 : i64}, %y: memref<64x64xf32> {tile.align = 64 : i64}, %z: memref<64x64xf32> {tile.align = 64 : i64}) {
  %v = tile.view %y sizes [64, 64] : memref<64x64xf32> to memref<64x64xf32, affine_map<(i, j) -> (i mod 8 * 8 + i floordiv 8, j)>>
  %w = tile.view %z sizes [64, 64] : memref<64x64xf32> to memref<64x64xf32, affine_map<(i, j) -> (j, i)>>
  %t = tile.load %x[0, 0] sizes [64, 64] : memref<64x64xf32> -> tensor<64x64xf32>
  tile.store %t, %v[0, 0] : tensor<64x64xf32>, memref<64x64xf32, affine_map<(i, j) -> (i mod 8 * 8 + i floordiv 8, j)>>
  tile.store %t, %w[0, 0] : tensor<64x64xf32>, memref<64x64xf32, affine_map<(i, j) -> (j, i)>>
  tile.return
}
