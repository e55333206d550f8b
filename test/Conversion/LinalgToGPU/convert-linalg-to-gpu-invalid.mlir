// RUN: aopt %s -convert-linalg-to-gpu="shared-limit=1024" -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-NOT: llvm.func
// CHECK-NOT: llvm.mlir.global

// expected-remark @below {{kernel stays on the host: expected sizes of arguments that are expressions of symbols}}
func.func @unnamed(%x: memref<?xf32>) attributes {adze.kernel} {
  return
}

// -----

// expected-remark @below {{expected checks of single positions}}
func.func @checked(%i: memref<4xindex>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0 = vector.load %i[%c0] : memref<4xindex>, vector<4xindex>
  tile.check %0 below %c4 fault 0 : vector<4xindex>
  return
}

// -----

// expected-remark @below {{expected scratch memory of a static size}}
func.func @scratch(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// expected-remark @below {{expected at most 1024 bytes of scratch memory, but got 4096}}
func.func @large(%x: memref<1024xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<1024xf32>
  memref.store %f0, %s[%c1] : memref<1024xf32>
  %0 = memref.load %s[%c0] : memref<1024xf32>
  memref.store %0, %x[%c0] : memref<1024xf32>
  return
}

// -----

func.func private @other(f32)
// expected-remark @below {{expected no calls}}
func.func @calls(%x: memref<1024xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<1024xf32>
  func.call @other(%0) : (f32) -> ()
  return
}

// -----

memref.global "private" constant @table : memref<1024xf32> = dense<1.0>
// expected-remark @below {{expected no constants in memory of the module}}
func.func @constants(%x: memref<1024xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %t = memref.get_global @table : memref<1024xf32>
  %0 = memref.load %t[%c0] : memref<1024xf32>
  memref.store %0, %x[%c0] : memref<1024xf32>
  return
}
