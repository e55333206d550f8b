// RUN: split-file %s %t
// RUN: not atranslate %t/unbound.mlir -o %t/unbound.so 2> %t/err; FileCheck %s < %t/err
// RUN: not test -e %t/unbound.so
// RUN: atranslate %t/nonzero.mlir -O0 -o %t/m0.so && atranslate %t/nonzero.mlir -O2 -o %t/m2.so
// RUN: arun %t/m0.so --output-dir %t/0 | FileCheck %s --check-prefix=SHAPES
// RUN: arun %t/m2.so --output-dir %t/2 | FileCheck %s --check-prefix=SHAPES
// RUN: od -An -v -w8 -t d8 -j 128 %t/0/y.npy | FileCheck %s --check-prefix=Y
// RUN: cmp %t/0/y.npy %t/2/y.npy
// RUN: od -An -v -w4 -t fF -j 128 %t/0/z.npy | FileCheck %s --check-prefix=Z
// RUN: cmp %t/0/z.npy %t/2/z.npy

// A symbol that no op binds is not a size.
// CHECK: error: {{.*}}unsupported: the shape of argument 1 depends on the values of a tensor

// SHAPES: output 'y': i64 1x3
// SHAPES: output 'z': f32 3
// SHAPES: output 'none': i64 1x0
// Y: {{^ +}}1{{$}}
// Y-NEXT: {{^ +}}3{{$}}
// Y-NEXT: {{^ +}}4{{$}}
// Y-NOT: {{.}}
// The output of a kernel on tensors of that size: 5 + 5, 6 + 6, -7 - 7.
// Z: {{^ +}}10{{$}}
// Z-NEXT: {{^ +}}12{{$}}
// Z-NEXT: {{^ +}}-14{{$}}

//--- unbound.mlir
func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>> {graph.name = "y"}) attributes {graph.symbols = [""]} {
  %y = graph.non_zero %x : (tensor<4xf32>) -> tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>>
  return %y : tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>>
}

//--- nonzero.mlir
#n = affine_map<()[s0] -> (s0)>
#row = affine_map<()[s0] -> (1, s0)>
#none = affine_map<()[s0, s1] -> (1, s1)>
func.func @main() -> (tensor<1x?xi64, #row> {graph.name = "y"}, tensor<?xf32, #n> {graph.name = "z"}, tensor<1x?xi64, #none> {graph.name = "none"}) attributes {graph.symbols = ["", ""]} {
  %x = graph.constant dense<[0.0, 5.0, 0.0, 6.0, -7.0]> : tensor<5xf32>
  %count = graph.constant dense<3> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  graph.bind %count {symbols = array<i64: 0>} : tensor<1xi64>
  graph.bind %zero {symbols = array<i64: 1>} : tensor<1xi64>
  %y = graph.non_zero %x : (tensor<5xf32>) -> tensor<1x?xi64, #row>
  %at = graph.reshape %y : (tensor<1x?xi64, #row>) -> tensor<?xi64, #n>
  %picked = graph.gather %x, %at {axis = 0 : i64} : (tensor<5xf32>, tensor<?xi64, #n>) -> tensor<?xf32, #n>
  %z = graph.add %picked, %picked : (tensor<?xf32, #n>, tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %none = graph.non_zero %x : (tensor<5xf32>) -> tensor<1x?xi64, #none>
  return %y, %z, %none : tensor<1x?xi64, #row>, tensor<?xf32, #n>, tensor<1x?xi64, #none>
}
