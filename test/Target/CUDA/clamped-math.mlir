// Roundings and conversions of clamped numbers, as in quantization.
// RUN: cuda-compile %s | FileCheck %s

// A rounding before bounds is two additions, and bytes are the low bits of a sum. Bounds
// that are no bounds of the number are removed, and so is the rounding of integers.
// CHECK: .entry quantize(
// CHECK-NOT: cvt.rni
// CHECK: add.rn.f32 {{.*}}, 0f4B400000
// CHECK: add.rn.f32 {{.*}}, 0fCB400000
// CHECK-NOT: cvt.rni
// CHECK: max.NaN.f32
// CHECK: min.NaN.f32
// CHECK-NOT: cvt.rzi
// CHECK: add.rn.f32 {{.*}}, 0f4B400000
// CHECK-NOT: cvt.rzi
tile.kernel @quantize(%x: memref<256xf32>, %y: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %x0 = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %fzero = arith.constant 0.0 : f32
  %zero = tile.broadcast %fzero to [256] : f32 -> tensor<256xf32>
  %fmost = arith.constant 255.0 : f32
  %most = tile.broadcast %fmost to [256] : f32 -> tensor<256xf32>
  %flower = arith.constant -4.0 : f32
  %lower = tile.broadcast %flower to [256] : f32 -> tensor<256xf32>
  %fz = arith.constant 3.0 : f32
  %z = tile.broadcast %fz to [256] : f32 -> tensor<256xf32>
  %a = math.roundeven %x0 : tensor<256xf32>
  %b = arith.addf %a, %z : tensor<256xf32>
  %c = arith.maximumf %b, %zero : tensor<256xf32>
  %d = arith.minimumf %c, %most : tensor<256xf32>
  %e = math.roundeven %d : tensor<256xf32>
  %f = arith.maximumf %e, %lower : tensor<256xf32>
  %g = arith.fptosi %f : tensor<256xf32> to tensor<256xi64>
  %r = arith.trunci %g : tensor<256xi64> to tensor<256xi8>
  tile.store %r, %y[%c0] : tensor<256xi8>, memref<256xi8>
  tile.return
}

// Numbers with a fraction are converted to 32 bits first.
// CHECK: .entry fraction(
// CHECK: cvt.rzi.s32.f32
// CHECK-NOT: cvt.rzi.s64
tile.kernel @fraction(%x: memref<256xf32>, %y: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %x0 = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [256] : f32 -> tensor<256xf32>
  %f1 = arith.constant 255.0 : f32
  %most = tile.broadcast %f1 to [256] : f32 -> tensor<256xf32>
  %a = arith.maximumf %x0, %zero : tensor<256xf32>
  %b = arith.minimumf %a, %most : tensor<256xf32>
  %g = arith.fptosi %b : tensor<256xf32> to tensor<256xi64>
  %r = arith.trunci %g : tensor<256xi64> to tensor<256xi8>
  tile.store %r, %y[%c0] : tensor<256xi8>, memref<256xi8>
  tile.return
}

// Numbers without bounds keep both; the sign of a zero that is stored is kept.
// CHECK: .entry unbounded(
// CHECK: cvt.rni.f32.f32
// CHECK: cvt.rzi.s64.f32
tile.kernel @unbounded(%x: memref<256xf32>, %y: memref<256xi8>) {
  %c0 = arith.constant 0 : index
  %x0 = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %a = math.roundeven %x0 : tensor<256xf32>
  %g = arith.fptosi %a : tensor<256xf32> to tensor<256xi64>
  %r = arith.trunci %g : tensor<256xi64> to tensor<256xi8>
  tile.store %r, %y[%c0] : tensor<256xi8>, memref<256xi8>
  tile.return
}
// CHECK: .entry stored(
// CHECK: cvt.rni.f32.f32
tile.kernel @stored(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %x0 = tile.load %x[%c0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  %fleast = arith.constant -8.0 : f32
  %least = tile.broadcast %fleast to [256] : f32 -> tensor<256xf32>
  %fmost = arith.constant 8.0 : f32
  %most = tile.broadcast %fmost to [256] : f32 -> tensor<256xf32>
  %a = arith.maximumf %x0, %least : tensor<256xf32>
  %b = arith.minimumf %a, %most : tensor<256xf32>
  %r = math.roundeven %b : tensor<256xf32>
  tile.store %r, %y[%c0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
