// RUN: aopt %s --graph-merge-horizontal --canonicalize --split-input-file --remarks-filter-failed=.* 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

// Query, key and value: one product, one bias, three slices. The bias of the key has
// another form: only the products are merged.
#x = affine_map<()[s0, s1] -> (s0, s1, 64)>
#y = affine_map<()[s0, s1] -> (s0, s1, 32)>
#h = affine_map<()[s0, s1] -> (s0, s1, 4, 8)>
// CHECK-LABEL: func.func @heads
// CHECK-DAG: %[[W:.*]] = graph.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x96xf32>
// CHECK-DAG: %[[M:.*]] = graph.matmul %arg0, %[[W]]
// CHECK-DAG: %[[B:.*]] = graph.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64}
// CHECK: %[[Y:.*]] = graph.add %[[M]], %[[B]]
// CHECK-DAG: %[[V:.*]] = graph.reshape %[[Y]] {{.*}} -> tensor<?x?x12x8xf32
// CHECK-DAG: graph.slice %[[V]] {starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: graph.slice %{{.*}} {starts = array<i64: 0, 0, 4, 0>
// CHECK-DAG: graph.slice %{{.*}} {starts = array<i64: 0, 0, 8, 0>
// CHECK-NOT: graph.matmul
func.func @heads(%x: tensor<?x?x64xf32, #x>) -> tensor<?x?x4x8xf32, #h> {
  %wq = graph.constant dense<1.0> : tensor<64x32xf32>
  %wk = graph.constant dense<2.0> : tensor<64x32xf32>
  %wv = graph.constant dense<3.0> : tensor<64x32xf32>
  %bq = graph.constant dense<1.0> : tensor<32xf32>
  %q = graph.matmul %x, %wq : (tensor<?x?x64xf32, #x>, tensor<64x32xf32>) -> tensor<?x?x32xf32, #y>
  %q1 = graph.add %q, %bq : (tensor<?x?x32xf32, #y>, tensor<32xf32>) -> tensor<?x?x32xf32, #y>
  %q2 = graph.reshape %q1 : (tensor<?x?x32xf32, #y>) -> tensor<?x?x4x8xf32, #h>
  %k = graph.matmul %x, %wk : (tensor<?x?x64xf32, #x>, tensor<64x32xf32>) -> tensor<?x?x32xf32, #y>
  %bk = graph.constant dense<2.0> : tensor<1x1x32xf32>
  %k1 = graph.add %k, %bk : (tensor<?x?x32xf32, #y>, tensor<1x1x32xf32>) -> tensor<?x?x32xf32, #y>
  %k2 = graph.reshape %k1 : (tensor<?x?x32xf32, #y>) -> tensor<?x?x4x8xf32, #h>
  %v = graph.matmul %x, %wv : (tensor<?x?x64xf32, #x>, tensor<64x32xf32>) -> tensor<?x?x32xf32, #y>
  %bv = graph.constant dense<3.0> : tensor<1xf32>
  %v1 = graph.add %v, %bv : (tensor<?x?x32xf32, #y>, tensor<1xf32>) -> tensor<?x?x32xf32, #y>
  %v2 = graph.reshape %v1 : (tensor<?x?x32xf32, #y>) -> tensor<?x?x4x8xf32, #h>
  %0 = graph.mul %q2, %k2 : (tensor<?x?x4x8xf32, #h>, tensor<?x?x4x8xf32, #h>) -> tensor<?x?x4x8xf32, #h>
  %1 = graph.mul %0, %v2 : (tensor<?x?x4x8xf32, #h>, tensor<?x?x4x8xf32, #h>) -> tensor<?x?x4x8xf32, #h>
  return %1 : tensor<?x?x4x8xf32, #h>
}

// -----

// Parallel 1x1 convolutions with their activation, whose parts the concat joins again; a
// branch with a window, and one that the model returns, stay.
// WHY: merge-horizontal {{.*}}a user cannot read a slice in place
// CHECK-LABEL: func.func @inception
// CHECK-DAG: %[[F:.*]] = graph.concat {{.*}} -> tensor<12x3x1x1xf32>
// CHECK: %[[C:.*]] = graph.conv %arg0, %[[F]], %{{.*}} -> tensor<1x12x4x4xf32>
// CHECK: %[[R:.*]] = graph.relu %[[C]]
// CHECK: %[[W:.*]] = graph.conv %arg0, %{{.*}}, %{{.*}} -> tensor<1x4x4x4xf32>
// CHECK: graph.conv %arg0, %{{.*}}, %{{.*}} -> tensor<1x2x4x4xf32>
// CHECK: graph.concat %[[R]], %[[W]] {axis = 1 : i64}
func.func @inception(%x: tensor<1x3x4x4xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x2x4x4xf32>) {
  %f0 = graph.constant dense<1.0> : tensor<4x3x1x1xf32>
  %f1 = graph.constant dense<2.0> : tensor<8x3x1x1xf32>
  %f2 = graph.constant dense<2.0> : tensor<4x3x3x3xf32>
  %f3 = graph.constant dense<2.0> : tensor<2x3x1x1xf32>
  %b0 = graph.constant dense<1.0> : tensor<4xf32>
  %b1 = graph.constant dense<1.0> : tensor<8xf32>
  %b3 = graph.constant dense<1.0> : tensor<2xf32>
  %0 = graph.conv %x, %f0, %b0 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.relu %0 : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.conv %x, %f1, %b1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<8x3x1x1xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %3 = graph.relu %2 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = graph.conv %x, %f2, %b0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %5 = graph.conv %x, %f3, %b3 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %6 = graph.concat %1, %3, %4 {axis = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x16x4x4xf32>
  return %6, %5 : tensor<1x16x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Weights that are not constants, and other inputs.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: graph.matmul
// CHECK-NOT: graph.slice
func.func @others(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> {
  %c = graph.constant dense<1.0> : tensor<64x32xf32>
  %0 = graph.matmul %x, %c : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %1 = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %2 = graph.matmul %y, %c : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %3 = graph.mul %0, %1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %4 = graph.mul %3, %2 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  return %4 : tensor<8x32xf32>
}

// -----

// A branch that was merged is the input of further ones.
// CHECK-LABEL: func.func @twice
// CHECK: %[[A:.*]] = graph.matmul %arg0, %{{.*}} -> tensor<8x8xf32>
// CHECK: %[[R:.*]] = graph.relu %[[A]]
// CHECK: %[[S:.*]] = graph.slice %[[R]] {starts = array<i64: 0, 0>
// CHECK: %[[B:.*]] = graph.matmul %[[S]], %{{.*}} -> tensor<8x8xf32>
// CHECK-NOT: graph.matmul
func.func @twice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w0 = graph.constant dense<1.0> : tensor<4x4xf32>
  %w1 = graph.constant dense<2.0> : tensor<4x4xf32>
  %0 = graph.matmul %x, %w0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = graph.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = graph.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = graph.relu %2 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = graph.matmul %1, %w0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %5 = graph.matmul %1, %w1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %6 = graph.mul %4, %5 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = graph.mul %6, %3 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %7 : tensor<8x4xf32>
}

// -----

// Ops that some branches lack would be a copying kernel: an operand of a concat, and a
// branch with an activation.
// WHY-DAG: merge-horizontal {{.*}}an operand of a concatenation is stored in place
// WHY-DAG: merge-horizontal {{.*}}the users of the other products differ
// CHECK-LABEL: func.func @unlike
// CHECK-DAG: %[[A:.*]] = graph.conv %arg0, %{{.*}} -> tensor<1x4x4x4xf32>
// CHECK-DAG: %[[BC:.*]] = graph.conv %arg0, %{{.*}} -> tensor<1x8x4x4xf32>
// CHECK-DAG: %[[D:.*]] = graph.conv %arg0, %{{.*}} -> tensor<1x2x4x4xf32>
// CHECK-DAG: graph.sigmoid %[[D]]
// CHECK-DAG: graph.slice %[[BC]]
// CHECK: graph.concat %[[A]]
func.func @unlike(%x: tensor<1x3x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x2x4x4xf32>) {
  %a = graph.constant dense<0.5> : tensor<4x3x1x1xf32>
  %b = graph.constant dense<1.5> : tensor<4x3x1x1xf32>
  %c = graph.constant dense<2.5> : tensor<4x3x1x1xf32>
  %d = graph.constant dense<3.5> : tensor<2x3x1x1xf32>
  %u = graph.constant dense<0.25> : tensor<2x4x1x1xf32>
  %v = graph.constant dense<0.75> : tensor<2x2x1x1xf32>
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.conv %x, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  %3 = graph.conv %x, %d {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = graph.conv %1, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  %5 = graph.conv %2, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  %6 = graph.sigmoid %3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %7 = graph.conv %6, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %8 = graph.concat %0, %4, %5 {axis = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %8, %7 : tensor<1x8x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Activations with different bounds become two with a bound per channel, likewise factors
// and summands that only some have; the constant may be the first operand.
// CHECK-LABEL: func.func @bounds
// CHECK-DAG: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[SIX:.*]] = graph.constant dense<6.000000e+00> : tensor<f32>
// CHECK-DAG: %[[NONE:.*]] = graph.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG: %[[ALL:.*]] = graph.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[C:.*]] = graph.conv %arg0, %{{.*}} -> tensor<?x10x4x4xf32
// CHECK: %[[M:.*]] = graph.mul %[[C]], %{{.*}} : (tensor<?x10x4x4xf32{{.*}}>, tensor<1x10x1x1xf32>)
// CHECK: %[[LOW:.*]] = graph.maximum %[[M]], %{{.*}} : (tensor<?x10x4x4xf32{{.*}}>, tensor<1x10x1x1xf32>)
// CHECK: %[[HIGH:.*]] = graph.minimum %[[LOW]], %{{.*}} : (tensor<?x10x4x4xf32{{.*}}>, tensor<1x10x1x1xf32>)
// CHECK-DAG: %[[P:.*]] = graph.slice %[[HIGH]] {starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: graph.conv %[[P]]
// CHECK-DAG: %[[Q:.*]] = graph.slice %[[HIGH]] {starts = array<i64: 0, 4, 0, 0>
// CHECK-DAG: graph.conv %[[Q]]
// CHECK-DAG: %[[R:.*]] = graph.slice %[[HIGH]] {starts = array<i64: 0, 8, 0, 0>
// CHECK-DAG: graph.conv %[[R]]
#x = affine_map<()[s0] -> (s0, 3, 4, 4)>
#y = affine_map<()[s0] -> (s0, 4, 4, 4)>
#z = affine_map<()[s0] -> (s0, 2, 4, 4)>
func.func @bounds(%x: tensor<?x3x4x4xf32, #x>) -> (tensor<?x2x4x4xf32, #z>, tensor<?x2x4x4xf32, #z>, tensor<?x2x4x4xf32, #z>) {
  %a = graph.constant dense<0.5> : tensor<4x3x1x1xf32>
  %b = graph.constant dense<1.5> : tensor<4x3x1x1xf32>
  %c = graph.constant dense<2.5> : tensor<2x3x1x1xf32>
  %u = graph.constant dense<0.25> : tensor<2x4x1x1xf32>
  %v = graph.constant dense<0.75> : tensor<2x2x1x1xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<1x4x1x1xf32>
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x4x4xf32, #x>, tensor<4x3x1x1xf32>) -> tensor<?x4x4x4xf32, #y>
  %1 = graph.relu %0 : (tensor<?x4x4x4xf32, #y>) -> tensor<?x4x4x4xf32, #y>
  %2 = graph.conv %1, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32, #y>, tensor<2x4x1x1xf32>) -> tensor<?x2x4x4xf32, #z>
  %3 = graph.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x4x4xf32, #x>, tensor<4x3x1x1xf32>) -> tensor<?x4x4x4xf32, #y>
  %4 = graph.mul %two, %3 : (tensor<1x4x1x1xf32>, tensor<?x4x4x4xf32, #y>) -> tensor<?x4x4x4xf32, #y>
  %5 = graph.maximum %zero, %4 : (tensor<f32>, tensor<?x4x4x4xf32, #y>) -> tensor<?x4x4x4xf32, #y>
  %6 = graph.minimum %5, %six : (tensor<?x4x4x4xf32, #y>, tensor<f32>) -> tensor<?x4x4x4xf32, #y>
  %7 = graph.conv %6, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32, #y>, tensor<2x4x1x1xf32>) -> tensor<?x2x4x4xf32, #z>
  %8 = graph.conv %x, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x4x4xf32, #x>, tensor<2x3x1x1xf32>) -> tensor<?x2x4x4xf32, #z>
  %9 = graph.conv %8, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x2x4x4xf32, #z>, tensor<2x2x1x1xf32>) -> tensor<?x2x4x4xf32, #z>
  return %2, %7, %9 : tensor<?x2x4x4xf32, #z>, tensor<?x2x4x4xf32, #z>, tensor<?x2x4x4xf32, #z>
}

// -----

// A shortcut that is computed last is read last: computed with the first branch, it would
// be evicted from the cache by then, for a small input that is read once less.
// WHY: merge-horizontal {{.*}}merging costs more than reading the input again
// CHECK-LABEL: func.func @shortcut
// CHECK: graph.conv %arg0, %{{.*}} -> tensor<1x8x128x128xf32>
// CHECK: graph.conv %arg0, %{{.*}} -> tensor<1x64x128x128xf32>
func.func @shortcut(%x: tensor<1x8x128x128xf32>) -> tensor<1x64x128x128xf32> {
  %a = graph.constant dense<0.5> : tensor<8x8x1x1xf32>
  %b = graph.constant dense<1.5> : tensor<64x8x1x1xf32>
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x128x128xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x128x128xf32>
  %1 = graph.relu %0 : (tensor<1x8x128x128xf32>) -> tensor<1x8x128x128xf32>
  %2 = graph.conv %1, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x128x128xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x128x128xf32>
  %3 = graph.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x128x128xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x128x128xf32>
  %4 = graph.add %2, %3 : (tensor<1x64x128x128xf32>, tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32>
  return %4 : tensor<1x64x128x128xf32>
}

// -----

// Products of words of one input: their words and zero points are joined along the
// columns. One of another input stays.
#x = affine_map<()[s0] -> (s0, 2, 8)>
#s = affine_map<()[s0] -> (s0, 2)>
#t = affine_map<()[s0] -> (s0, 2, 1)>
#y = affine_map<()[s0] -> (s0, 16)>
// CHECK-LABEL: func.func @words
// CHECK-DAG: %[[W:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 2 : i64} : (tensor<2x5x16xi32>, tensor<2x5x16xi32>) -> tensor<2x5x32xi32>
// CHECK-DAG: %[[Z:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x16xui8>, tensor<2x16xui8>) -> tensor<2x32xui8>
// CHECK: %[[Y:.*]] = graph.word_matmul %arg0, %arg1, %arg2, %[[W]], %[[Z]] {bits = 4 : i64, planes = 1 : i64}
// CHECK-DAG: graph.slice %[[Y]] {starts = array<i64: 0, 0>
// CHECK-DAG: graph.slice %[[Y]] {starts = array<i64: 0, 16>
// CHECK: graph.word_matmul %arg0, %arg3, %arg2
// CHECK-NOT: graph.word_matmul
func.func @words(%x: tensor<?x2x8xi32, #x>, %s: tensor<?x2xf32, #s>, %t: tensor<?x2x1xi32, #t>, %other: tensor<?x2xf32, #s>) -> (tensor<?x16xf32, #y>, tensor<?x16xf32, #y>) {
  %w0 = graph.constant dense<1> : tensor<2x5x16xi32>
  %w1 = graph.constant dense<2> : tensor<2x5x16xi32>
  %z0 = graph.constant dense<1> : tensor<2x16xui8>
  %z1 = graph.constant dense<2> : tensor<2x16xui8>
  %0 = graph.word_matmul %x, %s, %t, %w0, %z0 {bits = 4 : i64, planes = 1 : i64} : (tensor<?x2x8xi32, #x>, tensor<?x2xf32, #s>, tensor<?x2x1xi32, #t>, tensor<2x5x16xi32>, tensor<2x16xui8>) -> tensor<?x16xf32, #y>
  %1 = graph.word_matmul %x, %s, %t, %w1, %z1 {bits = 4 : i64, planes = 1 : i64} : (tensor<?x2x8xi32, #x>, tensor<?x2xf32, #s>, tensor<?x2x1xi32, #t>, tensor<2x5x16xi32>, tensor<2x16xui8>) -> tensor<?x16xf32, #y>
  %2 = graph.mul %0, %1 : (tensor<?x16xf32, #y>, tensor<?x16xf32, #y>) -> tensor<?x16xf32, #y>
  %3 = graph.word_matmul %x, %other, %t, %w1, %z1 {bits = 4 : i64, planes = 1 : i64} : (tensor<?x2x8xi32, #x>, tensor<?x2xf32, #s>, tensor<?x2x1xi32, #t>, tensor<2x5x16xi32>, tensor<2x16xui8>) -> tensor<?x16xf32, #y>
  return %2, %3 : tensor<?x16xf32, #y>, tensor<?x16xf32, #y>
}
