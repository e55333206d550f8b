// com.example.Leaky: y = x where x is positive, x / 2^shift elsewhere. The
// integer attribute `shift` of the node becomes the parameter of that name.
#rows = affine_map<()[s0] -> (s0, 16)>

!m = memref<?x16xf32>
!t = tensor<?x16xf32>

tile.kernel @com.example.Leaky(%x: !m {adze.dims = #rows}, %y: !m {adze.dims = #rows})
    attributes {tile.params = {ROWS = 64 : i64}} {
  %rows = tile.param "ROWS" : index
  %shift = tile.param "shift" : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : !m
  %grid = arith.ceildivui %n, %rows : index
  %id = tile.program_id(%grid) : index
  %at = arith.muli %id, %rows : index
  %t = tile.load %x[%at, 0] sizes [%rows, 16] : !m -> !t
  // slope = 1 / 2^shift
  %c1 = arith.constant 1 : index
  %power = arith.shli %c1, %shift : index
  %i = arith.index_cast %power : index to i32
  %f = arith.sitofp %i : i32 to f32
  %one = arith.constant 1.0 : f32
  %s = arith.divf %one, %f : f32
  %slope = tile.broadcast %s to [%rows, 16] : f32 -> !t
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [%rows, 16] : f32 -> !t
  %positive = arith.maximumf %t, %zero : !t
  %negative = arith.minimumf %t, %zero : !t
  %scaled = arith.mulf %negative, %slope : !t
  %o = arith.addf %positive, %scaled : !t
  tile.store %o, %y[%at, 0] : !t, !m
  tile.return
}
