// Stores past the caches: of memory that has more bytes than the kernel says,
// where the vectors are aligned if the memory is.
// RUN: aopt %s -split-input-file -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @large(
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %arg1
// CHECK: %[[REST:.*]] = arith.andi %[[ADDRESS]], %c63
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[ALIGNED]]
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: } else {
// CHECK-COUNT-4: vector.store {{.*}}] : memref<1024xf32>
tile.kernel @large(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.stream_bytes = 4095 : i64} {
  %t = tile.load %x[0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
  %n = arith.negf %t : tensor<1024xf32>
  tile.store %n, %y[0] : tensor<1024xf32>, memref<1024xf32>
  tile.return
}

// -----
// CHECK-LABEL: func.func @small(
// CHECK-NOT: nontemporal
tile.kernel @small(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.stream_bytes = 4096 : i64} {
  %t = tile.load %x[0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
  %n = arith.negf %t : tensor<1024xf32>
  tile.store %n, %y[0] : tensor<1024xf32>, memref<1024xf32>
  tile.return
}

// -----
// The size is known when it runs.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c4
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[BYTES]], %c4096
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[LARGE]] : i1
// CHECK: scf.if %[[BOTH]]
// CHECK: nontemporal
tile.kernel @unknown(%x: memref<?xf32>, %y: memref<?xf32>) attributes {tile.stream_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %programs = arith.ceildivui %n, %c64 : index
  %p = tile.program_id (%programs) : index
  %at = arith.muli %p, %c64 : index
  %t = tile.load %x[%at] sizes [64] : memref<?xf32> -> tensor<64xf32>
  %r = arith.negf %t : tensor<64xf32>
  tile.store %r, %y[%at] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// -----
// Rows of 100 elements begin anywhere.
// CHECK-LABEL: func.func @unaligned(
// CHECK-NOT: nontemporal
tile.kernel @unaligned(%x: memref<64x100xf32>, %y: memref<64x100xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %t = tile.load %x[0, 0] sizes [64, 100] : memref<64x100xf32> -> tensor<64x100xf32>
  %n = arith.negf %t : tensor<64x100xf32>
  tile.store %n, %y[0, 0] : tensor<64x100xf32>, memref<64x100xf32>
  tile.return
}
