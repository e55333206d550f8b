// Depthwise 3x3 convolution with stride 2, channels last, padding 1.
#pack = affine_map<(c, o, r, s) -> (r, s, c)>

!x = memref<1x56x56x144xf32>
!w = memref<144x1x3x3xf32, #pack>
!y = memref<1x28x28x144xf32>
!t = tensor<?x?xf32>

tile.kernel @depthwise3x3(%x: !x, %w: !w, %y: !y)
    attributes {tile.params = {BLOCK_P = 28 : i64, BLOCK_C = 144 : i64}} {
  %bp = tile.param "BLOCK_P" : index
  %bc = tile.param "BLOCK_C" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %rows = memref.dim %y, %c1 : !y
  %columns = memref.dim %y, %c2 : !y
  %channels = memref.dim %y, %c3 : !y
  %gq = arith.ceildivui %columns, %bp : index
  %gc = arith.ceildivui %channels, %bc : index
  %pc, %pq, %oy = tile.program_id (%gc, %gq, %rows) : index, index, index
  %ox = arith.muli %pq, %bp : index
  %c = arith.muli %pc, %bc : index
  %oy2 = arith.muli %oy, %c2 : index
  %ox2 = arith.muli %ox, %c2 : index
  %iy0 = arith.subi %oy2, %c1 : index
  %ix0 = arith.subi %ox2, %c1 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [%bp, %bc] : f32 -> !t
  %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zero) -> !t {
    %iy = arith.addi %iy0, %r : index
    %a2 = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> !t {
      %ix = arith.addi %ix0, %s : index
      %v = tile.load %x[0, %iy, %ix, %c] sizes [%bp, %bc] strides [2, 1] : !x -> !t
      %f = tile.load %w[%c, 0, %r, %s] sizes [%bc] dims [0] : !w -> tensor<?xf32>
      %fb = tile.broadcast %f to [%bp, %bc] dims [1] : tensor<?xf32> -> !t
      %sum = math.fma %v, %fb, %a1 : !t
      scf.yield %sum : !t
    }
    scf.yield %a2 : !t
  }
  tile.store %acc, %y[0, %oy, %ox, %c] : !t, !y
  tile.return
}
