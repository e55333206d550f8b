// RUN: cuda-compile %s | FileCheck %s
// RUN: cuda-compile --no-toolkit %s | FileCheck %s

// CHECK: .version 8.4
// CHECK: .target sm_90a
// CHECK: .visible .entry relu(
// CHECK: .param .u64 .ptr .global
// CHECK: .maxntid 256, 1, 1
// CHECK: ld.global.v4.b32
// CHECK-COUNT-4: max.NaN.f32
// CHECK: st.global.v4.b32
#n = affine_map<()[s0] -> (s0)>
tile.kernel @relu(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %f0 = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivui %n, %c1024 : index
  %p = tile.program_id (%g) : index
  %o = arith.muli %p, %c1024 : index
  %t = tile.load %x[%o] sizes [1024] : memref<?xf32> -> tensor<1024xf32>
  %z = tile.broadcast %f0 to [1024] : f32 -> tensor<1024xf32>
  %r = arith.maximumf %t, %z : tensor<1024xf32>
  tile.store %r, %y[%o] : tensor<1024xf32>, memref<?xf32>
  tile.return
}

// Integers, for which libdevice has no function; positions are integers, too.
// CHECK: .visible .entry distance(
// CHECK: {{abs.s64|max.s64}}
tile.kernel @distance(%x: memref<1024xi64>, %y: memref<1024xi64>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [1024] : memref<1024xi64> -> tensor<1024xi64>
  %r = math.absi %t : tensor<1024xi64>
  tile.store %r, %y[%c0] : tensor<1024xi64>, memref<1024xi64>
  tile.return
}
