// RUN: aopt %s -convert-byte-lookup-to-llvm -split-input-file | FileCheck %s

// Equal tables share a constant. Lanes are loaded where the CPU does not permute bytes.
// CHECK-LABEL: module attributes
// CHECK-DAG: llvm.mlir.global internal constant @byte_table_0(dense<7> : tensor<256xi8>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<256 x i8>
// CHECK-DAG: llvm.mlir.global internal constant @byte_table_1(dense<9> : tensor<256xi8>)
// CHECK-NOT: @byte_table_2
// CHECK-LABEL: func.func @scalars(
// CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @byte_table_0
// CHECK: %[[AT:.*]] = arith.extui %arg0 : i8 to i64
// CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %[[TABLE]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.load %[[ADDRESS]] invariant {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK: addressof @byte_table_1
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [524288, 16777216], features = [lane_permute]>]} {
func.func @scalars(%x: i8) -> (i8, i8) {
  %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : i8
  %1 = tile.byte_lookup %x in dense<9> : tensor<256xi8> : i8
  return %0, %1 : i8, i8
}
// CHECK-LABEL: func.func @lanes(
// CHECK-COUNT-4: llvm.load
// CHECK-NOT: llvm.load
// CHECK: vector.from_elements
func.func @lanes(%x: vector<4xi8>) -> vector<4xi8> {
  %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : vector<4xi8>
  return %0 : vector<4xi8>
}
}

// -----

// 64 bytes by two permutations, of which the highest bit of a byte selects one; other
// numbers of bytes in the registers that they need. Scalars are loaded.
// CHECK-LABEL: func.func @register(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : vector<64xi8>
// CHECK-DAG: %[[A:.*]] = arith.constant dense<1> : vector<64xi8>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<2> : vector<64xi8>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<3> : vector<64xi8>
// CHECK-DAG: %[[D:.*]] = arith.constant dense<4> : vector<64xi8>
// CHECK: %[[UPPER:.*]] = arith.cmpi slt, %[[X:.*]], %[[ZERO]]
// CHECK-DAG: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%[[C]], %[[X]], %[[D]])
// CHECK-DAG: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%[[A]], %[[X]], %[[B]])
// CHECK: arith.select %[[UPPER]], %[[HIGH]], %[[LOW]]
// CHECK-LABEL: func.func @few(
// CHECK: vector.shuffle %arg0, %arg0 [0, 1, 2, -1, -1,
// CHECK-COUNT-2: vpermi2var
// CHECK-NOT: vpermi2var
// CHECK: vector.shuffle {{.*}} [0, 1, 2] : vector<64xi8>, vector<64xi8>
// CHECK-LABEL: func.func @several(
// CHECK-COUNT-4: vpermi2var
// CHECK-NOT: vpermi2var
// CHECK-LABEL: func.func @scalar(
// CHECK: llvm.load
module attributes {tile.targets = [#tile.cpu<chip = "znver4", vector_bytes = 64, caches = [1048576, 33554432], features = [lane_permute, byte_permute]>]} {
func.func @register(%x: vector<64xi8>) -> vector<64xi8> {
  %0 = tile.byte_lookup %x in dense<"0x01010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030304040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404"> : tensor<256xi8> : vector<64xi8>
  return %0 : vector<64xi8>
}
func.func @few(%x: vector<3xi8>) -> vector<3xi8> {
  %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : vector<3xi8>
  return %0 : vector<3xi8>
}
func.func @several(%x: vector<128xi8>) -> vector<128xi8> {
  %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : vector<128xi8>
  return %0 : vector<128xi8>
}
func.func @scalar(%x: i8) -> i8 {
  %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : i8
  return %0 : i8
}
}

// -----

// On a GPU tables are in global memory, and in the GPU's module.
// CHECK: gpu.module @cuda_kernels {
// CHECK-NEXT: llvm.mlir.global internal constant @byte_table_0(dense<7> : tensor<256xi8>) {addr_space = 1 : i32, alignment = 64 : i64}
// CHECK: llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr<1> -> i8
module attributes {gpu.container_module} {
gpu.module @cuda_kernels {
  llvm.func @k(%x: i8) -> i8 {
    %0 = tile.byte_lookup %x in dense<7> : tensor<256xi8> : i8
    llvm.return %0 : i8
  }
}
}

// -----

// Tiles of kernels are lowered with the kernels.
// CHECK: tile.byte_lookup %{{.*}} in dense<7> : tensor<256xi8> : tensor<64xi8>
tile.kernel @tiles(%x: memref<64xi8>, %y: memref<64xi8>) {
  %t = tile.load %x[0] sizes [64] : memref<64xi8> -> tensor<64xi8>
  %r = tile.byte_lookup %t in dense<7> : tensor<256xi8> : tensor<64xi8>
  tile.store %r, %y[0] : tensor<64xi8>, memref<64xi8>
  tile.return
}
