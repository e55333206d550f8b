// Two kernels that link the same functions and tables of libdevice: each has its own
// copy, as ptxas rejects a second definition of a name.
// REQUIRES: cuda-toolkit
// RUN: cuda-compile %s | FileCheck %s
// RUN: cuda-compile --assemble -o %t.cubin %s
// RUN: test -s %t.cubin

// CHECK: .b8 __cudart_i2opi_d$sin[
// CHECK: .entry sin(
// CHECK: .func {{.*}}__internal_trig_reduction_slowpathd$sin(
// CHECK: .b8 __cudart_i2opi_d$cos[
// CHECK: .entry cos(
// CHECK: .func {{.*}}__internal_trig_reduction_slowpathd$cos(
#n = affine_map<()[s0] -> (s0)>
tile.kernel @sin(%x: memref<?xf64> {adze.dims = #n}, %y: memref<?xf64> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %g = arith.ceildivui %n, %c256 : index
  %p = tile.program_id (%g) : index
  %o = arith.muli %p, %c256 : index
  %t = tile.load %x[%o] sizes [256] : memref<?xf64> -> tensor<256xf64>
  %r = math.sin %t : tensor<256xf64>
  tile.store %r, %y[%o] : tensor<256xf64>, memref<?xf64>
  tile.return
}
tile.kernel @cos(%x: memref<?xf64> {adze.dims = #n}, %y: memref<?xf64> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %g = arith.ceildivui %n, %c256 : index
  %p = tile.program_id (%g) : index
  %o = arith.muli %p, %c256 : index
  %t = tile.load %x[%o] sizes [256] : memref<?xf64> -> tensor<256xf64>
  %r = math.cos %t : tensor<256xf64>
  tile.store %r, %y[%o] : tensor<256xf64>, memref<?xf64>
  tile.return
}
