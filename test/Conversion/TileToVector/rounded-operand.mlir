// Operands of dots that were rounded for units with narrow types.
// RUN: aopt %s -convert-tile-to-vector -canonicalize -cse --split-input-file | FileCheck %s

!x = memref<8x16xf32>
!w = memref<16x32xf16>
!y = memref<8x32xf32>

// The product is computed in f32: the rounding may be omitted, and is.
// CHECK-LABEL: func.func @leftOut(
// CHECK: math.exp
// CHECK-NOT: arith.truncf
// CHECK: vector.fma
// CHECK-NOT: arith.truncf
// CHECK: return
tile.kernel @leftOut(%x: !x, %w: !w, %y: !y) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %a = tile.load %x[0, 0] sizes [8, 16] : !x -> tensor<8x16xf32>
  %e = math.exp %a : tensor<8x16xf32>
  %r = arith.truncf %e fastmath<contract> : tensor<8x16xf32> to tensor<8x16xf16>
  %b = tile.load %w[0, 0] sizes [16, 32] : !w -> tensor<16x32xf16>
  %d = tile.dot %r, %b, %zero : tensor<8x16xf16>, tensor<16x32xf16>, tensor<8x32xf32>
  tile.store %d, %y[0, 0] : tensor<8x32xf32>, !y
  tile.return
}

// -----

!x = memref<8x16xf32>
!w = memref<16x32xf16>
!y = memref<8x32xf32>

// Without the flag it is part of the computation.
// CHECK-LABEL: func.func @kept(
// CHECK: arith.truncf
// CHECK: vector.fma
tile.kernel @kept(%x: !x, %w: !w, %y: !y) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %a = tile.load %x[0, 0] sizes [8, 16] : !x -> tensor<8x16xf32>
  %e = math.exp %a : tensor<8x16xf32>
  %r = arith.truncf %e : tensor<8x16xf32> to tensor<8x16xf16>
  %b = tile.load %w[0, 0] sizes [16, 32] : !w -> tensor<16x32xf16>
  %d = tile.dot %r, %b, %zero : tensor<8x16xf16>, tensor<16x32xf16>, tensor<8x32xf32>
  tile.store %d, %y[0, 0] : tensor<8x32xf32>, !y
  tile.return
}

// -----

// Dynamic sizes, and f64: rounded to a type that is not that of the dot.
!x = memref<?x16xf64>
!w = memref<16x32xf16>
!y = memref<?x32xf32>

// CHECK-LABEL: func.func @otherType(
// CHECK: arith.truncf {{.*}}f64{{.*}} to {{.*}}f16
// CHECK: vector.fma
tile.kernel @otherType(%x: !x, %w: !w, %y: !y) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %a = tile.load %x[0, 0] sizes [8, 16] : !x -> tensor<8x16xf64>
  %r = arith.truncf %a fastmath<contract> : tensor<8x16xf64> to tensor<8x16xf16>
  %b = tile.load %w[0, 0] sizes [16, 32] : !w -> tensor<16x32xf16>
  %d = tile.dot %r, %b, %zero : tensor<8x16xf16>, tensor<16x32xf16>, tensor<8x32xf32>
  tile.store %d, %y[0, 0] : tensor<8x32xf32>, !y
  tile.return
}
