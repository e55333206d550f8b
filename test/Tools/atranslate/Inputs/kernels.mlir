// Kernels for operators of custom-kernels.onnxtxt.
#rows = affine_map<()[s0] -> (s0, 8)>
#row = affine_map<()[s0] -> (s0)>

// com.example.Scale: y = SCALE x; the parameter is an attribute of the node.
tile.kernel @com.example.Scale(%x: memref<?x8xf32> {adze.dims = #rows}, %y: memref<?x8xf32> {adze.dims = #rows})
    attributes {tile.params = {ROWS = 4 : i64}} {
  %rows = tile.param "ROWS" : index
  %scale = tile.param "scale" : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %g = arith.ceildivui %n, %rows : index
  %p = tile.program_id(%g) : index
  %at = arith.muli %p, %rows : index
  %t = tile.load %x[%at, 0] sizes [%rows, 8] : memref<?x8xf32> -> tensor<?x8xf32>
  %i = arith.index_cast %scale : index to i32
  %f = arith.sitofp %i : i32 to f32
  %s = tile.broadcast %f to [%rows, 8] : f32 -> tensor<?x8xf32>
  %m = arith.mulf %t, %s : tensor<?x8xf32>
  tile.store %m, %y[%at, 0] : tensor<?x8xf32>, memref<?x8xf32>
  tile.return
}

// An operator of any custom domain with two results.
tile.kernel @MinMax(%x: memref<?x8xf32> {adze.dims = #rows}, %low: memref<?xf32> {adze.dims = #row}, %high: memref<?xf32> {adze.dims = #row}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %p = tile.program_id(%n) : index
  %t = tile.load %x[%p, 0] sizes [1, 8] : memref<?x8xf32> -> tensor<1x8xf32>
  %a = tile.reduce min %t dim 1 : tensor<1x8xf32> -> tensor<1xf32>
  %b = tile.reduce max %t dim 1 : tensor<1x8xf32> -> tensor<1xf32>
  tile.store %a, %low[%p] : tensor<1xf32>, memref<?xf32>
  tile.store %b, %high[%p] : tensor<1xf32>, memref<?xf32>
  tile.return
}

// Replaces ONNX's own operator, and also negates, to be distinguishable.
tile.kernel @ai.onnx.Relu(%x: memref<?x8xf32> {adze.dims = #rows}, %y: memref<?x8xf32> {adze.dims = #rows}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %p = tile.program_id(%n) : index
  %t = tile.load %x[%p, 0] sizes [1, 8] : memref<?x8xf32> -> tensor<1x8xf32>
  %m = arith.negf %t : tensor<1x8xf32>
  tile.store %m, %y[%p, 0] : tensor<1x8xf32>, memref<?x8xf32>
  tile.return
}
