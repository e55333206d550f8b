// softmax(q k^T / 8) v for heads of 64, in one pass over the keys with a running
// maximum and sum; k is transposed in memory.

!q = memref<8x512x64xf32>
!k = memref<8x64x512xf32>

tile.kernel @attention(%Q: !q, %K: !k, %V: !q, %O: !q)
    attributes {tile.params = {BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}} {
  %BM = tile.param "BLOCK_M" : index
  %BN = tile.param "BLOCK_N" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %H = memref.dim %Q, %c0 : !q
  %L = memref.dim %Q, %c1 : !q
  %gm = arith.ceildivui %L, %BM : index
  %pm, %h = tile.program_id (%gm, %H) : index, index
  %row = arith.muli %pm, %BM : index
  %f0 = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %fs = arith.constant 0.125 : f32
  %acc0 = tile.broadcast %f0 to [%BM, 64] : f32 -> tensor<?x64xf32>
  %m0 = tile.broadcast %ninf to [%BM] : f32 -> tensor<?xf32>
  %l0 = tile.broadcast %f0 to [%BM] : f32 -> tensor<?xf32>
  %z = tile.broadcast %f0 to [%BM, %BN] : f32 -> tensor<?x?xf32>
  %sc = tile.broadcast %fs to [%BM, %BN] : f32 -> tensor<?x?xf32>
  %q = tile.load %Q[%h, %row, 0] sizes [%BM, 64] : !q -> tensor<?x64xf32>
  %r:3 = scf.for %j = %c0 to %L step %BN
      iter_args(%acc = %acc0, %m = %m0, %l = %l0)
      -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>) {
    %k = tile.load %K[%h, 0, %j] sizes [64, %BN] : !k -> tensor<64x?xf32>
    %s = tile.dot %q, %k, %z : tensor<?x64xf32>, tensor<64x?xf32>, tensor<?x?xf32>
    %t = arith.mulf %s, %sc : tensor<?x?xf32>
    %mj = tile.reduce max %t dim 1 : tensor<?x?xf32> -> tensor<?xf32>
    %mn = arith.maximumf %m, %mj : tensor<?xf32>
    %mb = tile.broadcast %mn to [%BM, %BN] dims [0] : tensor<?xf32> -> tensor<?x?xf32>
    %d = arith.subf %t, %mb : tensor<?x?xf32>
    %p = math.exp %d : tensor<?x?xf32>
    %ad = arith.subf %m, %mn : tensor<?xf32>
    %al = math.exp %ad : tensor<?xf32>
    %lj = tile.reduce add %p dim 1 : tensor<?x?xf32> -> tensor<?xf32>
    %ln = math.fma %l, %al, %lj : tensor<?xf32>
    %alb = tile.broadcast %al to [%BM, 64] dims [0] : tensor<?xf32> -> tensor<?x64xf32>
    %as = arith.mulf %acc, %alb : tensor<?x64xf32>
    %v = tile.load %V[%h, %j, 0] sizes [%BN, 64] : !q -> tensor<?x64xf32>
    %o = tile.dot %p, %v, %as : tensor<?x?xf32>, tensor<?x64xf32>, tensor<?x64xf32>
    scf.yield %o, %mn, %ln : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>
  }
  %lb = tile.broadcast %r#2 to [%BM, 64] dims [0] : tensor<?xf32> -> tensor<?x64xf32>
  %out = arith.divf %r#0, %lb : tensor<?x64xf32>
  tile.store %out, %O[%h, %row, 0] : tensor<?x64xf32>, !q
  tile.return
}
