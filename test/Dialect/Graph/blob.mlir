// RUN: aopt %s --cse | FileCheck %s
// RUN: aopt %s | aopt --blob-dir=%S --cse | FileCheck %s
// RUN: aopt %s --emit-bytecode -o %t.mlirbc && aopt %t.mlirbc --blob-dir=%S --cse | FileCheck %s
// RUN: aopt %s --mlir-elide-elementsattrs-if-larger=1 --cse | FileCheck %s

// The same bytes at two offsets are one attribute; with two types they are two.
// CHECK-LABEL: func @same
func.func @same() -> (tensor<320xf32>, tensor<320xf32>, tensor<320xi32>) {
  // CHECK: %[[F:.*]] = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  %1 = graph.constant #graph.blob<"Inputs/blob.bin", 1280, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  // CHECK-NEXT: %[[I:.*]] = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xi32>
  %2 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xi32>
  // CHECK-NEXT: return %[[F]], %[[F]], %[[I]]
  return %0, %1, %2 : tensor<320xf32>, tensor<320xf32>, tensor<320xi32>
}

// Upstream folders do not copy the elements into the text.
// CHECK-LABEL: func @unfolded
func.func @unfolded() -> tensor<320xf32> {
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  // CHECK: arith.addf
  %1 = arith.addf %0, %0 : tensor<320xf32>
  return %1 : tensor<320xf32>
}
