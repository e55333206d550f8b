// y = gelu(x w + b), with w packed in panels of 32 columns.
#pack = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
#rows = affine_map<()[s0] -> (s0, 1024)>

!x = memref<?x1024xf32>
!w = memref<1024x1024xf32, #pack>
!b = memref<1024xf32>
!t = tensor<?x?xf32>

tile.kernel @gemm_bias_gelu(%x: !x {adze.dims = #rows}, %w: !w, %b: !b, %y: !x {adze.dims = #rows})
    attributes {
      tile.params = {BLOCK_M = 128 : i64, BLOCK_N = 256 : i64, BLOCK_K = 256 : i64},
      tile.params.cuda = {BLOCK_M = 128 : i64, BLOCK_N = 128 : i64, BLOCK_K = 32 : i64}} {
  %bm = tile.param "BLOCK_M" : index
  %bn = tile.param "BLOCK_N" : index
  %bk = tile.param "BLOCK_K" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !x
  %n = memref.dim %y, %c1 : !x
  %k = memref.dim %x, %c1 : !x
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> !t
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%sum = %zero) -> !t {
    %a = tile.load %x[%row, %i] sizes [%bm, %bk] : !x -> !t
    %v = tile.load %w[%i, %col] sizes [%bk, %bn] : !w -> !t
    %d = tile.dot %a, %v, %sum : !t, !t, !t
    scf.yield %d : !t
  }
  %bias = tile.load %b[%col] sizes [%bn] : !b -> tensor<?xf32>
  %rows = tile.broadcast %bias to [%bm, %bn] dims [1] : tensor<?xf32> -> !t
  %h = arith.addf %acc, %rows : !t
  // gelu(h) = h/2 (1 + erf(h / sqrt 2))
  %fr = arith.constant 0.70710678 : f32
  %fh = arith.constant 0.5 : f32
  %r = tile.broadcast %fr to [%bm, %bn] : f32 -> !t
  %half = tile.broadcast %fh to [%bm, %bn] : f32 -> !t
  %hr = arith.mulf %h, %r : !t
  %e = math.erf %hr : !t
  %hh = arith.mulf %h, %half : !t
  %g = math.fma %hh, %e, %hh : !t
  tile.store %g, %y[%row, %col] : !t, !x
  tile.return
}
