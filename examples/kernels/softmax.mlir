// Softmax over the last dimension; COLS covers a whole row.
#dims = affine_map<()[s0, s1] -> (s0, s1)>

!x = memref<?x?xf32>
!t = tensor<?x?xf32>
!r = tensor<?xf32>

tile.kernel @softmax(%x: !x {adze.dims = #dims}, %y: !x {adze.dims = #dims})
    attributes {tile.params = {ROWS = 8 : i64, COLS = 1024 : i64}} {
  %br = tile.param "ROWS" : index
  %bc = tile.param "COLS" : index
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : !x
  %g = arith.ceildivui %m, %br : index
  %p = tile.program_id (%g) : index
  %row = arith.muli %p, %br : index
  %t = tile.load %x[%row, 0] sizes [%br, %bc] pad 0xFF800000 : f32 : !x -> !t
  %max = tile.reduce max %t dim 1 nnan : !t -> !r
  %maxes = tile.broadcast %max to [%br, %bc] dims [0] : !r -> !t
  %d = arith.subf %t, %maxes : !t
  %e = math.exp %d : !t
  %s = tile.reduce add %e dim 1 : !t -> !r
  %f1 = arith.constant 1.0 : f32
  %one = tile.broadcast %f1 to [%br] : f32 -> !r
  %i = arith.divf %one, %s : !r
  %is = tile.broadcast %i to [%br, %bc] dims [0] : !r -> !t
  %o = arith.mulf %e, %is : !t
  tile.store %o, %y[%row, 0] : !t, !x
  tile.return
}
