// A kernel for CPUs that reads the elements of tiles without dims: the maxima of rows, which
// are those of the operator.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -o %t.so
// RUN: arun %t.so --random --output-dir %t && cmp %t/y.npy %t/z.npy
func.func @main(%x: tensor<4x16xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}, tensor<4xf32> {graph.name = "z"}) {
  %y = host.launch @most(%x) : (tensor<4x16xf32>) -> tensor<4xf32>
  %z = graph.reduce_max %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x16xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

tile.kernel @most(%x: memref<4x16xf32>, %y: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c4) : index
  %t = tile.load %x[%p, 0] sizes [16] dims [1] : memref<4x16xf32> -> tensor<16xf32>
  %m = tile.reduce max %t dim 0 : tensor<16xf32> -> tensor<f32>
  %s = tensor.extract %m[] : tensor<f32>
  memref.store %s, %y[%p] : memref<4xf32>
  tile.return
}
