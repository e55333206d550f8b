// Normalisation of groups of channels that are last, in the form of Keras: statistics of
// channels, of groups from these, and one kernel of later ops. Far from 0, and with a
// batch and images of dynamic size; groups of several channels, of one, and one of all.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: for s in 3x5x7x12 1x1x1x12 2x33x9x12; do arun %t/0.so --random --shape x=$s --output-dir %t && \
// RUN:   for t in 1 2; do arun %t/2.so --random --shape x=$s --threads $t --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy || exit 1; done || exit 1; done
// CHECK: convert-host-to-llvm: launches = 5
#x = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 12)>
#g = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 3, 4)>
#i = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 12, 1)>
#n = affine_map<()[s0] -> (s0, 1, 1, 3, 1)>
#m = affine_map<()[s0] -> (s0, 1, 1, 3, 4)>
#c = affine_map<()[s0] -> (s0, 1, 1, 12, 1)>
func.func @main(%x: tensor<?x?x?x12xf32, #x> {graph.name = "x"}) -> (tensor<?x?x?x12xf32, #x> {graph.name = "y"}, tensor<?x?x?x12xf32, #x> {graph.name = "z"}) attributes {graph.symbols = ["n", "h", "w"]} {
  %far = graph.constant dense<20.0> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-3> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %s = graph.constant dense<[[1.0, 2.0, -0.5, 0.75], [1.5, -1.0, 0.5, -1.0], [3.0, 0.25, 0.5, 1.0]]> : tensor<3x4xf32>
  %a = graph.add %x, %far : (tensor<?x?x?x12xf32, #x>, tensor<f32>) -> tensor<?x?x?x12xf32, #x>
  %v = graph.reshape %a : (tensor<?x?x?x12xf32, #x>) -> tensor<?x?x?x3x4xf32, #g>
  %mean = graph.reduce_mean %v {axes = array<i64: 1, 2, 4>} : (tensor<?x?x?x3x4xf32, #g>) -> tensor<?x1x1x3x1xf32, #n>
  %d = graph.sub %v, %mean : (tensor<?x?x?x3x4xf32, #g>, tensor<?x1x1x3x1xf32, #n>) -> tensor<?x?x?x3x4xf32, #g>
  %q = graph.pow %d, %two : (tensor<?x?x?x3x4xf32, #g>, tensor<f32>) -> tensor<?x?x?x3x4xf32, #g>
  %variance = graph.reduce_mean %q {axes = array<i64: 1, 2, 4>} : (tensor<?x?x?x3x4xf32, #g>) -> tensor<?x1x1x3x1xf32, #n>
  %sum = graph.add %variance, %epsilon : (tensor<?x1x1x3x1xf32, #n>, tensor<f32>) -> tensor<?x1x1x3x1xf32, #n>
  %root = graph.sqrt %sum : (tensor<?x1x1x3x1xf32, #n>) -> tensor<?x1x1x3x1xf32, #n>
  %r = graph.reciprocal %root : (tensor<?x1x1x3x1xf32, #n>) -> tensor<?x1x1x3x1xf32, #n>
  %inv = graph.mul %r, %s : (tensor<?x1x1x3x1xf32, #n>, tensor<3x4xf32>) -> tensor<?x1x1x3x4xf32, #m>
  %xi = graph.mul %v, %inv : (tensor<?x?x?x3x4xf32, #g>, tensor<?x1x1x3x4xf32, #m>) -> tensor<?x?x?x3x4xf32, #g>
  %mi = graph.mul %mean, %inv : (tensor<?x1x1x3x1xf32, #n>, tensor<?x1x1x3x4xf32, #m>) -> tensor<?x1x1x3x4xf32, #m>
  %shift = graph.sub %s, %mi : (tensor<3x4xf32>, tensor<?x1x1x3x4xf32, #m>) -> tensor<?x1x1x3x4xf32, #m>
  %0 = graph.add %xi, %shift : (tensor<?x?x?x3x4xf32, #g>, tensor<?x1x1x3x4xf32, #m>) -> tensor<?x?x?x3x4xf32, #g>
  %1 = graph.reshape %0 : (tensor<?x?x?x3x4xf32, #g>) -> tensor<?x?x?x12xf32, #x>
  %y = graph.silu %1 : (tensor<?x?x?x12xf32, #x>) -> tensor<?x?x?x12xf32, #x>
  %u = graph.reshape %a : (tensor<?x?x?x12xf32, #x>) -> tensor<?x?x?x12x1xf32, #i>
  %umean = graph.reduce_mean %u {axes = array<i64: 1, 2, 4>} : (tensor<?x?x?x12x1xf32, #i>) -> tensor<?x1x1x12x1xf32, #c>
  %ud = graph.sub %u, %umean : (tensor<?x?x?x12x1xf32, #i>, tensor<?x1x1x12x1xf32, #c>) -> tensor<?x?x?x12x1xf32, #i>
  %uq = graph.mul %ud, %ud : (tensor<?x?x?x12x1xf32, #i>, tensor<?x?x?x12x1xf32, #i>) -> tensor<?x?x?x12x1xf32, #i>
  %uvariance = graph.reduce_mean %uq {axes = array<i64: 1, 2, 4>} : (tensor<?x?x?x12x1xf32, #i>) -> tensor<?x1x1x12x1xf32, #c>
  %usum = graph.add %uvariance, %epsilon : (tensor<?x1x1x12x1xf32, #c>, tensor<f32>) -> tensor<?x1x1x12x1xf32, #c>
  %uroot = graph.sqrt %usum : (tensor<?x1x1x12x1xf32, #c>) -> tensor<?x1x1x12x1xf32, #c>
  %2 = graph.div %ud, %uroot : (tensor<?x?x?x12x1xf32, #i>, tensor<?x1x1x12x1xf32, #c>) -> tensor<?x?x?x12x1xf32, #i>
  %z = graph.reshape %2 : (tensor<?x?x?x12x1xf32, #i>) -> tensor<?x?x?x12xf32, #x>
  return %y, %z : tensor<?x?x?x12xf32, #x>, tensor<?x?x?x12xf32, #x>
}
