// RUN: aopt %s --tile-specialize --convert-tile-to-gpu | FileCheck %s

// Wide accesses depend on conditions that are checked at the entry; the other version
// accesses element by element, with zeros out of bounds.
// CHECK-LABEL: llvm.func @neg(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %[[Y:.*]]: !llvm.ptr<1>, %[[S0:.*]]: i64, %{{.*}}: i64)
// CHECK-SAME: adze.threads = 256
// CHECK-SAME: nvvm.maxntid = array<i32: 256, 1, 1>
// CHECK: %[[N:.*]] = arith.index_cast %[[S0]]
// CHECK: llvm.ptrtoint %[[X]]
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: } else {
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
#n = affine_map<()[s0] -> (s0)>
tile.kernel @neg(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n})
    attributes {tile.params = {BLOCK = 1024 : i64}} {
  %B = tile.param "BLOCK" : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivui %n, %B : index
  %p = tile.program_id (%g) : index
  %o = arith.muli %p, %B : index
  %t = tile.load %x[%o] sizes [%B] : memref<?xf32> -> tensor<?xf32>
  %r = arith.negf %t : tensor<?xf32>
  tile.store %r, %y[%o] : tensor<?xf32>, memref<?xf32>
  tile.return
}

// Known alignment of the arguments and static sizes leave nothing to check.
// CHECK-LABEL: llvm.func @aligned(
// CHECK-NOT: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: scf.if
// CHECK: llvm.return
tile.kernel @aligned(%x: memref<4096xf32> {tile.align = 64 : i64}, %y: memref<4096xf32> {tile.align = 64 : i64}) {
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %p = tile.program_id (%c4) : index
  %o = arith.muli %p, %c1024 : index
  %t = tile.load %x[%o] sizes [1024] : memref<4096xf32> -> tensor<1024xf32>
  tile.store %t, %y[%o] : tensor<1024xf32>, memref<4096xf32>
  tile.return
}

// The host computes the number of programs from the values of the symbols.
// CHECK-LABEL: llvm.func @neg_cuda_programs(
// CHECK-SAME: %{{.*}}: !llvm.ptr) -> i64
// CHECK: arith.ceildivui
