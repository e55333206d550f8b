// Scatters of single elements on GPUs: a program stores a block of the updates at
// computed positions of the result, of which all dims are merged.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ Sums of floats/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=1500 --int-limit=20 | FileCheck %s --check-prefix=EMULATED
// RUN: sed -e '/^\/\/ Sums of floats/,$d' %s | aopt --split-input-file --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.kernel

// Fewer updates than elements along both dims: the position is that of the row, and the
// index.
// CHECK-LABEL: tile.kernel @elements(
// CHECK: %[[U:.*]] = memref.collapse_shape %arg2 {{.*}} into memref<2100xi32>
// CHECK: %[[T:.*]] = tile.load %[[U]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[P:.*]], %{{.*}} : tensor<1024xi32>
// CHECK: %[[ROW:.*]] = arith.divui %[[P]], %{{.*}} : tensor<1024xi32>
// CHECK: tile.gather %{{.*}}[0] at %{{.*}} along 0 dims [-1] : memref<2100xi64>
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} : tensor<1024xi32>
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %{{.*}} : tensor<1024xi32>
// CHECK: %[[PLACE:.*]] = arith.select %{{.*}}, %[[AT]], %{{.*}} : tensor<1024xi1>
// CHECK: tile.scatter %[[T]], %{{.*}}[0] at %[[PLACE]] along 0 dims [-1] combine add : tensor<1024xi32>, memref<2800xi32>
// EMULATED: elements: 3 programs of {{.*}} agree
func.func private @elements(%x: tensor<7x400xi32>, %i: tensor<6x350xi64>, %u: tensor<6x350xi32>) -> tensor<7x400xi32> attributes {adze.kernel} {
  %y = graph.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = #graph.scatter<add>} : (tensor<7x400xi32>, tensor<6x350xi64>, tensor<6x350xi32>) -> tensor<7x400xi32>
  return %y : tensor<7x400xi32>
}

// -----

// Indices of whole rows are read once for each element of the row. The maximum of unsigned
// bytes, and that of floats, which the kernel computes.
// CHECK-LABEL: tile.kernel @bytes(
// CHECK: tile.scatter {{.*}} combine umax : tensor<1024xi8>, memref<3200xi8>
// EMULATED: bytes: 5 programs of {{.*}} agree
func.func private @bytes(%x: tensor<50x64xui8>, %i: tensor<70x1xi32>, %u: tensor<70x64xui8>) -> tensor<50x64xui8> attributes {adze.kernel} {
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<max>} : (tensor<50x64xui8>, tensor<70x1xi32>, tensor<70x64xui8>) -> tensor<50x64xui8>
  return %y : tensor<50x64xui8>
}

// -----

// CHECK-LABEL: tile.kernel @computed(
// CHECK: %[[T:.*]] = math.absf
// CHECK: tile.scatter %[[T]], {{.*}} combine min : tensor<1024xf32>, memref<1500xf32>
// EMULATED: computed: 1 programs of {{.*}} agree
func.func private @computed(%x: tensor<3x5x100xf32>, %i: tensor<3x2x100xi32>, %u: tensor<3x2x100xf32>) -> tensor<3x5x100xf32> attributes {adze.kernel} {
  %a = graph.abs %u : (tensor<3x2x100xf32>) -> tensor<3x2x100xf32>
  %y = graph.scatter_elements %x, %i, %a {axis = 1 : i64, reduction = #graph.scatter<min>} : (tensor<3x5x100xf32>, tensor<3x2x100xi32>, tensor<3x2x100xf32>) -> tensor<3x5x100xf32>
  return %y : tensor<3x5x100xf32>
}

// -----

// Index tuples, of a dynamic number: positions have 64 bits, as sizes may need them. Each
// tuple selects a slice of 3 elements.
#i = affine_map<()[s0] -> (s0, 2)>
#u = affine_map<()[s0] -> (s0, 3)>
// CHECK-LABEL: tile.kernel @tuples(
// CHECK: %[[IN:.*]] = arith.remui %{{.*}} : tensor<1024xi64>
// CHECK: tile.gather {{.*}} : memref<?xi64>
// CHECK: tile.gather {{.*}} : memref<?xi64>
// CHECK: arith.addi %{{.*}}, %[[IN]] : tensor<1024xi64>
// CHECK: tile.scatter {{.*}} combine max : tensor<1024xi64>, memref<1200xi64>
// EMULATED: tuples: 5 programs of {{.*}} agree
func.func private @tuples(%x: tensor<20x20x3xi64>, %i: tensor<?x2xi64, #i>, %u: tensor<?x3xi64, #u>) -> tensor<20x20x3xi64> attributes {adze.kernel} {
  %y = graph.scatter_nd %x, %i, %u {reduction = #graph.scatter<max>} : (tensor<20x20x3xi64>, tensor<?x2xi64, #i>, tensor<?x3xi64, #u>) -> tensor<20x20x3xi64>
  return %y : tensor<20x20x3xi64>
}

// -----

// Sums of floats depend on the order of the updates, which the loops of the reference path
// keep. (graph-split-reductions makes integers of them.)
// expected-remark@below {{falls back to the reference path: updates are combined in their order}}
func.func private @sums(%x: tensor<50xf64>, %i: tensor<70xi64>, %u: tensor<70xf64>) -> tensor<50xf64> attributes {adze.kernel} {
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<50xf64>, tensor<70xi64>, tensor<70xf64>) -> tensor<50xf64>
  return %y : tensor<50xf64>
}
