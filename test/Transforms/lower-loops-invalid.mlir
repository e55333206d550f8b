// RUN: aopt %s --lower-loops --verify-diagnostics

// A loop that computes a tensor cannot be lowered to branches before bufferization.
func.func @tensors(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected control flow that has a form of branches, but got 'scf.forall'}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}
