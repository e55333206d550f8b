// RUN: aopt %s --convert-graph-to-tile -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s

// In an image of dynamic width, the rows of a register block that are in bounds are
// determined at run time: they are read in place, and zeros instead of the others, in
// memory that is initialised once. Whole blocks, each in two versions; then half a block
// or a whole one.
#x = affine_map<()[s0, s1] -> (1, s0, s1, 64)>
// CHECK-LABEL: func.func @dilated(
// CHECK: %[[ZEROS:.*]] = memref.alloca() {{.*}} : memref<64xf32>
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %[[ZEROS]]
// CHECK-NOT: vector.maskedload
// All are in bounds.
// CHECK: scf.if
// CHECK-COUNT-16: vector.fma
// CHECK: } else {
// CHECK-COUNT-8: arith.select {{.*}} : memref<64xf32, strided<[1], offset: ?>>
// Taps without elements in bounds are skipped.
// CHECK: %[[ANY:.*]] = arith.ori
// CHECK: scf.if %[[ANY]]
// CHECK-COUNT-16: vector.fma
// After the whole blocks.
// CHECK: arith.cmpi sgt
// CHECK-COUNT-8: arith.select {{.*}} : memref<64xf32, strided<[1], offset: ?>>
// CHECK-COUNT-16: vector.fma
// CHECK-COUNT-4: arith.select {{.*}} : memref<64xf32, strided<[1], offset: ?>>
// CHECK-NOT: arith.select
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
func.func private @dilated(%x: tensor<1x?x?x64xf32, #x>, %w: tensor<64x64x3x3xf32>) -> tensor<1x?x?x64xf32, #x> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 12, 12, 12, 12>, dilations = array<i64: 12, 12>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x64xf32, #x>, tensor<64x64x3x3xf32>) -> tensor<1x?x?x64xf32, #x>
  return %0 : tensor<1x?x?x64xf32, #x>
}

// If all positions are static, out-of-bounds rows are omitted.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: arith.select {{.*}} : memref
func.func private @known(%x: tensor<1x9x9x64xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x9x9x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, layout = #graph.layout<nhwc>} : (tensor<1x9x9x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x9x9x64xf32>
  return %0 : tensor<1x9x9x64xf32>
}
