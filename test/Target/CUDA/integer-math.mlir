// Powers of integers are computed by repeated squaring; remainders of floats need
// libdevice, which is an error without a toolkit.
// RUN: cuda-compile %s | FileCheck %s
// RUN: sed -e 's/math.ipowi %0, %1 : i32/arith.remsi %0, %1 : i32/' -e 's/arith.remsi/arith.remf/' -e 's/i32/f32/g' %s > %t.mlir
// RUN: cuda-compile %t.mlir -o %t.ptx
// RUN: not cuda-compile --no-toolkit %t.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: unsupported: 'arith.remf' of 'f32' on a GPU without libdevice

// CHECK: .visible .entry power(
// CHECK-DAG: mul.lo.s32
// CHECK-DAG: shr.u32
func.func @power(%x: memref<64xi32>, %y: memref<64xi32>, %z: memref<64xi32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xi32>
    %1 = memref.load %y[%i] : memref<64xi32>
    %2 = math.ipowi %0, %1 : i32
    memref.store %2, %z[%i] : memref<64xi32>
  }
  return
}
