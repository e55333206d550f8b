// A graph given as text with assumptions about sizes: a run whose sizes do not fit ends
// with an error before it begins, at every level; otherwise kernels would read beyond the
// end of a tensor (found by random graphs). Sizes that fit have correct results.
// RUN: rm -rf %t && mkdir -p %t
// RUN: for o in 0 2 3; do atranslate -O$o %s -o %t/$o.so || exit 1; done
// RUN: arun %t/0.so --random --shape a=16 --shape b=5x3 --shape c=3 --shape f=8x1x2 --output-dir %t
// RUN: for o in 2 3; do arun %t/$o.so --random --shape a=16 --shape b=5x3 --shape c=3 --shape f=8x1x2 --range-tol 1e-6 --expect sum=%t/sum.npy --expect product=%t/product.npy --expect part=%t/part.npy --expect groups=%t/groups.npy || exit 1; done
// RUN: for o in 0 2 3; do arun %t/$o.so --random --shape a=1 --shape b=5x3 --shape c=3 --shape f=4x1x2 || exit 1; done
// A dynamic size with a static one, inner sizes of a product, a slice of too few rows,
// filters for a fraction of a group.
// RUN: for o in 0 2 3; do for sizes in "a=7 b=5x3 c=3 f=8x1x2" "a=16 b=5x3 c=1000 f=8x1x2" "a=16 b=4x3 c=3 f=8x1x2" "a=16 b=5x3 c=3 f=3x1x2" "a=16 b=5x3 c=3 f=6x1x2"; do set -- $sizes; not arun %t/$o.so --random --shape $1 --shape $2 --shape $3 --shape $4 2> %t/error && FileCheck %s < %t/error || exit 1; done; done
// CHECK: error: the inputs' shapes do not agree
// The error names inputs and dims, one of which must change: both if two do not agree,
// one if a number is required.
// RUN: not arun %t/2.so --random --shape a=16 --shape b=5x3 --shape c=1000 --shape f=8x1x2 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not arun %t/0.so --random --shape a=16 --shape b=4x3 --shape c=3 --shape f=8x1x2 2>&1 | FileCheck %s --check-prefix=ONE
// BOTH: error: {{.*}}: input 'c' dim 0 is 1000, input 'b' dim 1 is 3{{$}}
// ONE: error: {{.*}}: input 'b' dim 0 is 4{{$}}

#a = affine_map<()[s0] -> (s0)>
#b = affine_map<()[s0, s1, s2] -> (s1, s2)>
#c = affine_map<()[s0, s1, s2, s3] -> (s3)>
#n = affine_map<()[s0, s1, s2, s3] -> (s1, 1)>
#f = affine_map<()[s0, s1, s2, s3, s4] -> (s4, 1, 2)>
#g = affine_map<()[s0, s1, s2, s3, s4] -> (1, s4, 15)>
#k = affine_map<()[s0, s1, s2, s3] -> (s3, 1)>
#p = affine_map<()[s0, s1, s2, s3] -> (5, s2)>
func.func @main(%a: tensor<?xf32, #a> {graph.name = "a"}, %b: tensor<?x?xf32, #b> {graph.name = "b"}, %c: tensor<?xf32, #c> {graph.name = "c"},
    %f: tensor<?x1x2xf32, #f> {graph.name = "f"}) -> (
    tensor<16xf32> {graph.name = "sum"}, tensor<?x1xf32, #n> {graph.name = "product"}, tensor<5x?xf32, #p> {graph.name = "part"}, tensor<1x?x15xf32, #g> {graph.name = "groups"})
    attributes {graph.symbols = ["", "", "", "", ""]} {
  %ones = graph.constant dense<1.0> : tensor<16xf32>
  %0 = graph.add %a, %ones : (tensor<?xf32, #a>, tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.reshape %c : (tensor<?xf32, #c>) -> tensor<?x1xf32, #k>
  %2 = graph.matmul %b, %1 : (tensor<?x?xf32, #b>, tensor<?x1xf32, #k>) -> tensor<?x1xf32, #n>
  %3 = graph.slice %b {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x?xf32, #b>) -> tensor<5x?xf32, #p>
  %x = graph.constant dense<2.0> : tensor<1x4x16xf32>
  %4 = graph.conv %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 4 : i64} : (tensor<1x4x16xf32>, tensor<?x1x2xf32, #f>) -> tensor<1x?x15xf32, #g>
  return %0, %2, %3, %4 : tensor<16xf32>, tensor<?x1xf32, #n>, tensor<5x?xf32, #p>, tensor<1x?x15xf32, #g>
}
