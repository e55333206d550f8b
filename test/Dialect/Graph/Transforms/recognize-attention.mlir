// RUN: aopt %s --canonicalize --graph-recognize-attention --canonicalize --cse --split-input-file | FileCheck %s

// The scale divides the scores; an op transposes the keys.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[Y:.*]] = graph.attention %arg0, %arg1, %arg2 {scale = 1.250000e-01 : f64}
// CHECK-NEXT: return %[[Y]]
func.func @plain(%q: tensor<2x12x9x64xf32>, %k: tensor<2x12x7x64xf32>, %v: tensor<2x12x7x32xf32>) -> tensor<2x12x9x32xf32> {
  %c = graph.constant dense<8.0> : tensor<f32>
  %kt = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x12x7x64xf32>) -> tensor<2x12x64x7xf32>
  %0 = graph.matmul %q, %kt : (tensor<2x12x9x64xf32>, tensor<2x12x64x7xf32>) -> tensor<2x12x9x7xf32>
  %1 = graph.div %0, %c : (tensor<2x12x9x7xf32>, tensor<f32>) -> tensor<2x12x9x7xf32>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x12x9x7xf32>) -> tensor<2x12x9x7xf32>
  %3 = graph.matmul %2, %v : (tensor<2x12x9x7xf32>, tensor<2x12x7x32xf32>) -> tensor<2x12x9x32xf32>
  return %3 : tensor<2x12x9x32xf32>
}

// -----

// Both factors are scaled by a root; a condition on the keys only, broadcast to the
// scores, and the causal triangle of positions; NaN weights become 0. Sizes are symbols.
#q = affine_map<()[s0, s1] -> (s0, 4, s1, 16)>
#kt = affine_map<()[s0, s1] -> (s0, 4, 16, s1)>
#s = affine_map<()[s0, s1] -> (s0, 4, s1, s1)>
#m = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
#ms = affine_map<()[s0, s1] -> (s0, 1, s1, s1)>
#n = affine_map<()[s0, s1] -> (s1)>
#row = affine_map<()[s0, s1] -> (1, s1)>
#col = affine_map<()[s0, s1] -> (s1, 1)>
#sq = affine_map<()[s0, s1] -> (s1, s1)>
// CHECK-LABEL: func.func @causal
// CHECK: graph.attention %arg0, %arg1, %arg2 mask %arg3 {causal = #graph.causal<upper_left>, scale = 2.500000e-01 : f64, zero_empty = true}
// CHECK-SAME: tensor<?x1x1x?xi1
// CHECK-NOT: graph.softmax
func.func @causal(%q: tensor<?x4x?x16xf32, #q>, %k: tensor<?x4x?x16xf32, #q>, %v: tensor<?x4x?x16xf32, #q>, %m: tensor<?x1x1x?xi1, #m>, %n: tensor<i64>) -> tensor<?x4x?x16xf32, #q> {
  %root = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<0xFF800000> : tensor<f32>
  %from = graph.constant dense<0> : tensor<i64>
  %by = graph.constant dense<1> : tensor<i64>
  %r = graph.range %from, %n, %by : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #n>
  %row = graph.reshape %r : (tensor<?xi64, #n>) -> tensor<1x?xi64, #row>
  %col = graph.reshape %r : (tensor<?xi64, #n>) -> tensor<?x1xi64, #col>
  %tri = graph.less_equal %row, %col : (tensor<1x?xi64, #row>, tensor<?x1xi64, #col>) -> tensor<?x?xi1, #sq>
  %wide = graph.broadcast_to %m : (tensor<?x1x1x?xi1, #m>) -> tensor<?x1x?x?xi1, #ms>
  %both = graph.and %wide, %tri : (tensor<?x1x?x?xi1, #ms>, tensor<?x?xi1, #sq>) -> tensor<?x1x?x?xi1, #ms>
  %bias = graph.select %both, %zero, %low : (tensor<?x1x?x?xi1, #ms>, tensor<f32>, tensor<f32>) -> tensor<?x1x?x?xf32, #ms>
  %qs = graph.mul %q, %root : (tensor<?x4x?x16xf32, #q>, tensor<f32>) -> tensor<?x4x?x16xf32, #q>
  %kt = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x4x?x16xf32, #q>) -> tensor<?x4x16x?xf32, #kt>
  %ks = graph.mul %kt, %root : (tensor<?x4x16x?xf32, #kt>, tensor<f32>) -> tensor<?x4x16x?xf32, #kt>
  %0 = graph.matmul %qs, %ks : (tensor<?x4x?x16xf32, #q>, tensor<?x4x16x?xf32, #kt>) -> tensor<?x4x?x?xf32, #s>
  %1 = graph.add %0, %bias : (tensor<?x4x?x?xf32, #s>, tensor<?x1x?x?xf32, #ms>) -> tensor<?x4x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %nan = graph.is_nan %2 : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xi1, #s>
  %3 = graph.select %nan, %zero, %2 : (tensor<?x4x?x?xi1, #s>, tensor<f32>, tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %4 = graph.matmul %3, %v : (tensor<?x4x?x?xf32, #s>, tensor<?x4x?x16xf32, #q>) -> tensor<?x4x?x16xf32, #q>
  return %4 : tensor<?x4x?x16xf32, #q>
}

// -----

// Two heads share a group of keys and values; a soft cap; a mask by selection.
// CHECK-LABEL: func.func @groups
// CHECK: graph.attention %arg0, %arg1, %arg2 mask %arg3 {fill = -1.000000e+09 : f64, scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64}
// CHECK-SAME: (tensor<1x4x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<9x9xi1>)
func.func @groups(%q: tensor<1x4x9x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %m: tensor<9x9xi1>) -> tensor<1x4x9x16xf32> {
  %scale = graph.constant dense<0.25> : tensor<f32>
  %cap = graph.constant dense<30.0> : tensor<f32>
  %low = graph.constant dense<-1.0e9> : tensor<f32>
  %k5 = graph.reshape %k : (tensor<1x2x9x16xf32>) -> tensor<1x2x1x9x16xf32>
  %kb = graph.broadcast_to %k5 : (tensor<1x2x1x9x16xf32>) -> tensor<1x2x2x9x16xf32>
  %k4 = graph.reshape %kb : (tensor<1x2x2x9x16xf32>) -> tensor<1x4x9x16xf32>
  %v5 = graph.reshape %v : (tensor<1x2x9x16xf32>) -> tensor<1x2x1x9x16xf32>
  %vb = graph.broadcast_to %v5 : (tensor<1x2x1x9x16xf32>) -> tensor<1x2x2x9x16xf32>
  %v4 = graph.reshape %vb : (tensor<1x2x2x9x16xf32>) -> tensor<1x4x9x16xf32>
  %0 = graph.matmul %q, %k4 {transpose_b = true} : (tensor<1x4x9x16xf32>, tensor<1x4x9x16xf32>) -> tensor<1x4x9x9xf32>
  %1 = graph.mul %0, %scale : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %2 = graph.div %1, %cap : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %3 = graph.tanh %2 : (tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %4 = graph.mul %3, %cap : (tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %5 = graph.select %m, %4, %low : (tensor<9x9xi1>, tensor<1x4x9x9xf32>, tensor<f32>) -> tensor<1x4x9x9xf32>
  %6 = graph.softmax %5 {axis = 3 : i64} : (tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %7 = graph.matmul %6, %v4 : (tensor<1x4x9x9xf32>, tensor<1x4x9x16xf32>) -> tensor<1x4x9x16xf32>
  return %7 : tensor<1x4x9x16xf32>
}

// -----

// Batch and heads are one dim in the products, and two where a constant triangle is
// added.
// CHECK-LABEL: func.func @merged
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = #graph.causal<upper_left>, fill = -3.4028234663852886E+38 : f64, scale = 1.000000e+00 : f64} : (tensor<2x3x2x8xf32>
// CHECK-NOT: graph.softmax
func.func @merged(%q: tensor<2x3x2x8xf32>, %k: tensor<2x3x2x8xf32>, %v: tensor<2x3x2x8xf32>) -> tensor<2x3x2x8xf32> {
  %tri = graph.constant dense<[[0.0, 0xFF7FFFFF], [0.0, 0.0]]> : tensor<2x2xf32>
  %q3 = graph.reshape %q : (tensor<2x3x2x8xf32>) -> tensor<6x2x8xf32>
  %k3 = graph.reshape %k : (tensor<2x3x2x8xf32>) -> tensor<6x2x8xf32>
  %v3 = graph.reshape %v : (tensor<2x3x2x8xf32>) -> tensor<6x2x8xf32>
  %0 = graph.matmul %q3, %k3 {transpose_b = true} : (tensor<6x2x8xf32>, tensor<6x2x8xf32>) -> tensor<6x2x2xf32>
  %1 = graph.reshape %0 : (tensor<6x2x2xf32>) -> tensor<2x3x2x2xf32>
  %2 = graph.add %1, %tri : (tensor<2x3x2x2xf32>, tensor<2x2xf32>) -> tensor<2x3x2x2xf32>
  %3 = graph.reshape %2 : (tensor<2x3x2x2xf32>) -> tensor<6x2x2xf32>
  %4 = graph.softmax %3 {axis = 2 : i64} : (tensor<6x2x2xf32>) -> tensor<6x2x2xf32>
  %5 = graph.matmul %4, %v3 : (tensor<6x2x2xf32>, tensor<6x2x8xf32>) -> tensor<6x2x8xf32>
  %6 = graph.reshape %5 : (tensor<6x2x8xf32>) -> tensor<2x3x2x8xf32>
  return %6 : tensor<2x3x2x8xf32>
}

// -----

// The values are the left operand: the result is transposed. f16 is summed in f32.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[V:.*]] = graph.transpose %arg2 {perm = array<i64: 0, 2, 1>}
// CHECK: %[[Y:.*]] = graph.attention %arg0, %arg1, %[[V]] bias %arg3 {scale = 1.000000e+00 : f64}
// CHECK: graph.transpose %[[Y]] {perm = array<i64: 0, 2, 1>}
func.func @transposed(%q: tensor<2x5x8xf16>, %k: tensor<2x5x8xf16>, %v: tensor<2x4x5xf16>, %b: tensor<5x5xf32>) -> tensor<2x4x5xf16> {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x5x5xf16>
  %1 = graph.cast %0 : (tensor<2x5x5xf16>) -> tensor<2x5x5xf32>
  %2 = graph.add %b, %1 : (tensor<5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %4 = graph.cast %3 : (tensor<2x5x5xf32>) -> tensor<2x5x5xf16>
  %5 = graph.matmul %v, %4 {transpose_b = true} : (tensor<2x4x5xf16>, tensor<2x5x5xf16>) -> tensor<2x4x5xf16>
  return %5 : tensor<2x4x5xf16>
}

// -----

// As exported by torch: the root of the root of the head size, computed from the shape,
// on both operands; a mask before that scale, and a bias that is subtracted.
#q = affine_map<()[s0] -> (s0, 4, 9, 16)>
// CHECK-LABEL: func.func @shape_scale
// CHECK: %[[N:.*]] = graph.neg %arg4
// CHECK: graph.attention %arg0, %arg1, %arg2 bias %[[N]] mask %arg3 {{[{].*}}scale = 2.500000e-01 : f64}
// CHECK-NOT: graph.softmax
func.func @shape_scale(%q: tensor<?x4x9x16xf32, #q>, %k: tensor<?x4x9x16xf32, #q>, %v: tensor<?x4x9x16xf32, #q>, %m: tensor<9x9xi1>, %b: tensor<9x9xf32>) -> tensor<?x4x9x16xf32, #q> {
  %low = graph.constant dense<-3.4e38> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %shape = graph.shape %q : (tensor<?x4x9x16xf32, #q>) -> tensor<4xi64>
  %head = graph.slice %shape {starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<4xi64>) -> tensor<1xi64>
  %size = graph.cast %head : (tensor<1xi64>) -> tensor<1xf32>
  %root = graph.sqrt %size : (tensor<1xf32>) -> tensor<1xf32>
  %scale = graph.div %one, %root : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x4x9x16xf32, #q>) -> tensor<?x4x16x9xf32, affine_map<()[s0] -> (s0, 4, 16, 9)>>
  %0 = graph.matmul %q, %kt : (tensor<?x4x9x16xf32, #q>, tensor<?x4x16x9xf32, affine_map<()[s0] -> (s0, 4, 16, 9)>>) -> tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>
  %1 = graph.select %m, %0, %low : (tensor<9x9xi1>, tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>, tensor<f32>) -> tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>
  %2 = graph.mul %1, %scale : (tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>, tensor<1xf32>) -> tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>
  %3 = graph.sub %2, %b : (tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>, tensor<9x9xf32>) -> tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>) -> tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>
  %5 = graph.matmul %4, %v : (tensor<?x4x9x9xf32, affine_map<()[s0] -> (s0, 4, 9, 9)>>, tensor<?x4x9x16xf32, #q>) -> tensor<?x4x9x16xf32, #q>
  return %5 : tensor<?x4x9x16xf32, #q>
}

// -----

// f16 values that are widened before it and rounded after it, moved or not: it sums them
// in f32 itself.
// CHECK-LABEL: func.func @widened
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x9x16xf16>, %[[K:.*]]: tensor<2x4x9x16xf16>
// CHECK-NOT: graph.cast
// CHECK: %[[A:.*]] = graph.attention %[[Q]], %[[K]], %[[K]] {{[{].*}} : (tensor<2x4x9x16xf16>, tensor<2x4x9x16xf16>, tensor<2x4x9x16xf16>) -> tensor<2x4x9x16xf16>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[A]]
// CHECK-NEXT: return %[[T]] : tensor<2x9x4x16xf16>
func.func @widened(%q: tensor<2x4x9x16xf16>, %k: tensor<2x4x9x16xf16>) -> tensor<2x9x4x16xf16> {
  %0 = graph.cast %q : (tensor<2x4x9x16xf16>) -> tensor<2x4x9x16xf32>
  %1 = graph.cast %k : (tensor<2x4x9x16xf16>) -> tensor<2x4x9x16xf32>
  %2 = graph.matmul %0, %1 {transpose_b = true} : (tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>) -> tensor<2x4x9x9xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x9x9xf32>) -> tensor<2x4x9x9xf32>
  %4 = graph.matmul %3, %1 : (tensor<2x4x9x9xf32>, tensor<2x4x9x16xf32>) -> tensor<2x4x9x16xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x9x16xf32>) -> tensor<2x9x4x16xf32>
  %6 = graph.cast %5 : (tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf16>
  return %6 : tensor<2x9x4x16xf16>
}

// -----

// The f32 sums have other users: unchanged.
// CHECK-LABEL: func.func @read_wide
// CHECK: graph.attention {{.*}} -> tensor<2x9x16xf32>
func.func @read_wide(%q: tensor<2x9x16xf16>) -> (tensor<2x9x16xf16>, tensor<2x9x16xf32>) {
  %0 = graph.cast %q : (tensor<2x9x16xf16>) -> tensor<2x9x16xf32>
  %1 = graph.matmul %0, %0 {transpose_b = true} : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %3 = graph.matmul %2, %0 : (tensor<2x9x9xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
  %4 = graph.cast %3 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf16>
  return %4, %3 : tensor<2x9x16xf16>, tensor<2x9x16xf32>
}

// -----

// The product in the other order, transposed (keras), and a bias before the scale.
// CHECK-LABEL: func.func @swapped
// CHECK: %[[F:.*]] = graph.constant dense<5.000000e-01>
// CHECK: %[[B:.*]] = graph.mul %arg3, %[[F]]
// CHECK: graph.attention %arg0, %arg1, %arg2 bias %[[B]] {scale = 5.000000e-01 : f64}
func.func @swapped(%q: tensor<2x4x9x64xf32>, %k: tensor<2x4x7x64xf32>, %v: tensor<2x4x7x64xf32>, %b: tensor<9x7xf32>) -> tensor<2x4x9x64xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %k, %q {transpose_b = true} : (tensor<2x4x7x64xf32>, tensor<2x4x9x64xf32>) -> tensor<2x4x7x9xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x7x9xf32>) -> tensor<2x4x9x7xf32>
  %2 = graph.add %1, %b : (tensor<2x4x9x7xf32>, tensor<9x7xf32>) -> tensor<2x4x9x7xf32>
  %3 = graph.mul %2, %half : (tensor<2x4x9x7xf32>, tensor<f32>) -> tensor<2x4x9x7xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x9x7xf32>) -> tensor<2x4x9x7xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x9x7xf32>, tensor<2x4x7x64xf32>) -> tensor<2x4x9x64xf32>
  return %5 : tensor<2x4x9x64xf32>
}

// -----

// A sum between two factors: each bias has those after it.
// CHECK-LABEL: func.func @factors
// CHECK-DAG: %[[F:.*]] = graph.constant dense<5.000000e-01>
// CHECK-DAG: %[[B:.*]] = graph.mul %arg3, %[[F]]
// CHECK-DAG: %[[G:.*]] = graph.constant dense<1.250000e-01>
// CHECK-DAG: %[[C:.*]] = graph.mul %arg4, %[[G]]
// CHECK: graph.attention %arg0, %arg1, %arg2 bias {{.*}} {scale = 1.250000e-01 : f64}
func.func @factors(%q: tensor<2x9x64xf32>, %k: tensor<2x7x64xf32>, %v: tensor<2x7x64xf32>, %b: tensor<9x7xf32>, %c: tensor<9x7xf32>) -> tensor<2x9x64xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %quarter = graph.constant dense<0.25> : tensor<f32>
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x7x64xf32>) -> tensor<2x9x7xf32>
  %1 = graph.add %0, %c : (tensor<2x9x7xf32>, tensor<9x7xf32>) -> tensor<2x9x7xf32>
  %2 = graph.mul %1, %quarter : (tensor<2x9x7xf32>, tensor<f32>) -> tensor<2x9x7xf32>
  %3 = graph.add %2, %b : (tensor<2x9x7xf32>, tensor<9x7xf32>) -> tensor<2x9x7xf32>
  %4 = graph.mul %3, %half : (tensor<2x9x7xf32>, tensor<f32>) -> tensor<2x9x7xf32>
  %5 = graph.softmax %4 {axis = 2 : i64} : (tensor<2x9x7xf32>) -> tensor<2x9x7xf32>
  %6 = graph.matmul %5, %v : (tensor<2x9x7xf32>, tensor<2x7x64xf32>) -> tensor<2x9x64xf32>
  return %6 : tensor<2x9x64xf32>
}
