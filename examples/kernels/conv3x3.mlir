// 3x3 convolution, channels last, padding 1; the filter in ONNX's order
// (o, i, r, s), packed in panels of 32 output channels.
#pack = affine_map<(o, i, r, s) -> (o floordiv 32, r, s, i, o mod 32)>

!x = memref<1x56x56x64xf32>
!w = memref<64x64x3x3xf32, #pack>
!t = tensor<?x?xf32>

tile.kernel @conv3x3(%x: !x, %w: !w, %y: !x)
    attributes {tile.params = {BLOCK_P = 14 : i64, BLOCK_N = 64 : i64, BLOCK_C = 64 : i64}} {
  %bp = tile.param "BLOCK_P" : index
  %bn = tile.param "BLOCK_N" : index
  %bc = tile.param "BLOCK_C" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %rows = memref.dim %y, %c1 : !x
  %columns = memref.dim %y, %c2 : !x
  %co = memref.dim %y, %c3 : !x
  %ci = memref.dim %x, %c3 : !x
  %gq = arith.ceildivui %columns, %bp : index
  %gn = arith.ceildivui %co, %bn : index
  %pq, %oy, %pn = tile.program_id (%gq, %rows, %gn) : index, index, index
  %ox = arith.muli %pq, %bp : index
  %o = arith.muli %pn, %bn : index
  %iy0 = arith.subi %oy, %c1 : index
  %ix0 = arith.subi %ox, %c1 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [%bp, %bn] : f32 -> !t
  %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zero) -> !t {
    %iy = arith.addi %iy0, %r : index
    %a3 = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> !t {
      %ix = arith.addi %ix0, %s : index
      %a4 = scf.for %c = %c0 to %ci step %bc iter_args(%a2 = %a1) -> !t {
        %a = tile.load %x[0, %iy, %ix, %c] sizes [%bp, %bc] : !x -> !t
        %b = tile.load %w[%o, %c, %r, %s] sizes [%bc, %bn] dims [1, 0] : !w -> !t
        %d = tile.dot %a, %b, %a2 : !t, !t, !t
        scf.yield %d : !t
      }
      scf.yield %a4 : !t
    }
    scf.yield %a3 : !t
  }
  tile.store %acc, %y[0, %oy, %ox, %o] : !t, !x
  tile.return
}
