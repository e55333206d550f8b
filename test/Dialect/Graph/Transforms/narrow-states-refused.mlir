// A function without a cache of f32 is an error that states the missing part.
// RUN: not aopt %s -graph-narrow-states=type=bf16 -split-input-file 2>&1 | FileCheck %s
// RUN: not aopt %s -graph-narrow-states="type=f16 pairs=none" -split-input-file 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: unsupported: --kv-precision=f16: --state=none excludes caches; leave the flag out

// No name has past and present.
// CHECK: unsupported: --kv-precision=bf16: the model has no cache of f32 that grows by rows, whose names say past and present or that --state names; leave the flag out
func.func @names(%k: tensor<1x2x4xf32> {graph.name = "k"}, %x: tensor<1x1x4xf32> {graph.name = "x"}) -> (tensor<1x3x4xf32> {graph.name = "y"}) {
  %0 = graph.concat %k, %x {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// -----

// A state that is replaced as a whole, and used by later ops.
// CHECK: unsupported: --kv-precision=bf16: the model has no cache
func.func @whole(%h: tensor<1x2x4xf32> {graph.name = "state_in"}) -> (tensor<1x2x4xf32> {graph.name = "state_out"}) {
  %0 = graph.tanh %h : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

// A cache of f16 is narrow already.
// CHECK: unsupported: --kv-precision=bf16: the model has no cache of f32
func.func @narrow(%k: tensor<1x2x4xf16> {graph.name = "past"}, %x: tensor<1x1x4xf16> {graph.name = "x"}) -> (tensor<1x3x4xf16> {graph.name = "present"}) {
  %0 = graph.concat %k, %x {axis = 1 : i64} : (tensor<1x2x4xf16>, tensor<1x1x4xf16>) -> tensor<1x3x4xf16>
  return %0 : tensor<1x3x4xf16>
}
