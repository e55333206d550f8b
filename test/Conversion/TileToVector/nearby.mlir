// Gathers at indices that depend on positions: one or two loads and a permute, if a check
// at run time finds that these cover all lanes.
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4 caches=1M,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v3 caches=1M,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=HALF
// RUN: aopt %s -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PLAIN

// The least index is at one of the ends; two vectors from there are within the row, or it
// is shorter and a mask selects its elements.
// CHECK-LABEL: func.func @steps(
// CHECK: %[[FIRST:.*]] = vector.extract %[[AT:.*]][0] : index from vector<16xindex>
// CHECK: %[[LAST:.*]] = vector.extract %[[AT]][15]
// CHECK: %[[LEAST:.*]] = arith.minsi %[[FIRST]], %[[LAST]]
// CHECK: %[[BASE:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[START:.*]] = vector.broadcast %[[BASE]]
// CHECK: %[[PICKED:.*]] = arith.subi %[[AT]], %[[START]]
// CHECK: %[[ONE:.*]] = vector.reduction <and>
// CHECK: %[[TWO:.*]] = vector.reduction <and>
// CHECK: scf.if %[[ONE]]
// CHECK: %[[X:.*]] = vector.maskedload %arg0[%{{.*}}, %[[BASE]]]
// CHECK: %[[N:.*]] = arith.index_cast %[[PICKED]] : vector<16xindex> to vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[X]], %[[N]])
// CHECK: scf.if %[[TWO]]
// CHECK-COUNT-2: vector.maskedload
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: } else {
// CHECK: vector.gather
// HALF-LABEL: func.func @steps(
// HALF: llvm.call_intrinsic "llvm.x86.avx2.permps"
// HALF: %[[LOW:.*]] = arith.cmpi slt, %{{.*}} : vector<8xi32>
// HALF: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permps"
// HALF: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permps"
// HALF: arith.select %[[LOW]], %[[A]], %[[B]]
// HALF: vector.gather
// PLAIN-LABEL: func.func @steps(
// PLAIN-NOT: call_intrinsic
// PLAIN: vector.gather
tile.kernel @steps(%x: memref<?x?xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %id = tile.program_id(%rows) : index
  %i = tile.iota dim 0 to [16] : tensor<16xindex>
  %n = tile.broadcast %columns to [16] : index -> tensor<16xindex>
  %r = arith.remui %i, %n : tensor<16xindex>
  %t = tile.gather %x[%id, 0] at %r along 1 dims [-1] : memref<?x?xf32>, tensor<16xindex> -> tensor<16xf32>
  tile.store %t, %y[%id, 0] dims [1] : tensor<16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// Data-dependent indices are gathered.
// CHECK-LABEL: func.func @data(
// CHECK-NOT: call_intrinsic
// CHECK: vector.gather
tile.kernel @data(%x: memref<8x64xf32>, %z: memref<16xi32>, %y: memref<8x16xf32>) {
  %p = tile.load %z[0] sizes [16] : memref<16xi32> -> tensor<16xi32>
  %b = tile.broadcast %p to [8, 16] dims [1] : tensor<16xi32> -> tensor<8x16xi32>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<8x64xf32>, tensor<8x16xi32> -> tensor<8x16xf32>
  tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
  tile.return
}

// -----

// Numbers from which indices are computed do not reduce the lanes. 64-bit elements are
// permuted in whole registers only.
// CHECK-LABEL: func.func @wide(
// CHECK: vector<16xf64>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.d.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.di.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.q.512"
// HALF-LABEL: func.func @wide(
// HALF: llvm.call_intrinsic "llvm.x86.avx2.permd"
// HALF-NOT: call_intrinsic{{.*}}vector<4x
tile.kernel @wide(%x: memref<?x?xf32>, %z: memref<?x?xi32>, %y: memref<?x16xf32>, %v: memref<?x?xi64>, %w: memref<?x8xi64>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %id = tile.program_id(%rows) : index
  %i = tile.iota dim 0 to [16] : tensor<16xi64>
  %f = arith.sitofp %i : tensor<16xi64> to tensor<16xf64>
  %count = arith.index_cast %rows : index to i64
  %number = arith.sitofp %count : i64 to f64
  %scale = tile.broadcast %number to [16] : f64 -> tensor<16xf64>
  %s = arith.divf %f, %scale : tensor<16xf64>
  %j = arith.fptosi %s : tensor<16xf64> to tensor<16xi64>
  %r = arith.index_cast %j : tensor<16xi64> to tensor<16xindex>
  %t = tile.gather %z[%id, 0] at %r along 1 dims [-1] : memref<?x?xi32>, tensor<16xindex> -> tensor<16xi32>
  %g = arith.sitofp %t : tensor<16xi32> to tensor<16xf32>
  tile.store %g, %y[%id, 0] dims [1] : tensor<16xf32>, memref<?x16xf32>
  %k = tile.iota dim 0 to [8] : tensor<8xindex>
  %rr = tile.broadcast %rows to [8] : index -> tensor<8xindex>
  %q = arith.remui %k, %rr : tensor<8xindex>
  %u = tile.gather %v[%id, 0] at %q along 1 dims [-1] : memref<?x?xi64>, tensor<8xindex> -> tensor<8xi64>
  tile.store %u, %w[%id, 0] dims [1] : tensor<8xi64>, memref<?x8xi64>
  tile.return
}
