// The PTX of products in the other types of wgmma: tf32, whose operands are f32 in
// memory, and bytes. Operands are contiguous along the depth, and results are stored
// through shared memory.
// DEFINE: %{types} =
// DEFINE: %{compile} = sed -e '%{types}' %s | cuda-compile

// REDEFINE: %{types} = s/ELEMENT/f32/g; s/SUM/f32/g; s/COMPUTE/tf32 * tf32 + f32/; s/ZERO/0.0/
// RUN: %{compile} | FileCheck %s --check-prefix=TF32 --implicit-check-not='{{(ld|st)[.]local}}'
// TF32-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// TF32-DAG: wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32
// TF32-DAG: st.shared.v2.b32
// TF32-DAG: cp.async.bulk.tensor.2d.global.shared::cta

// REDEFINE: %{types} = s/ELEMENT/i8/g; s/SUM/i32/g; s/COMPUTE/ui8 * si8 + si32/; s/ZERO/0/
// RUN: %{compile} | FileCheck %s --check-prefix=BYTES --implicit-check-not='{{(ld|st)[.]local}}'
// BYTES-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// BYTES-DAG: wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.s8

// REDEFINE: %{types} = s/ELEMENT/i8/g; s/SUM/i32/g; s/COMPUTE/si8 * si8 + si32/; s/ZERO/0/
// RUN: %{compile} | FileCheck %s --check-prefix=SIGNED --implicit-check-not='{{(ld|st)[.]local}}'
// SIGNED-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// SIGNED-DAG: wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8

#columns = affine_map<(k, n) -> (n, k)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", tf32 * tf32 + f32, [64, 256, 8]>, #tile.unit<"wgmma", ui8 * si8 + si32, [64, 256, 32]>,
             #tile.unit<"wgmma", si8 * si8 + si32, [64, 256, 32]>], features = [tma]>]} {
  tile.kernel @product(%a: memref<4096x1040xELEMENT>, %b: memref<1040x4096xELEMENT, #columns>, %y: memref<4096x4096xSUM>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 1040 : index
    %size = arith.constant 4096 : index
    %none = arith.constant ZERO : SUM
    %gm = arith.ceildivui %size, %bm : index
    %gn = arith.ceildivui %size, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %none to [%bm, %bn] : SUM -> tensor<?x?xSUM>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xSUM> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<4096x1040xELEMENT> -> tensor<?x?xELEMENT>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<1040x4096xELEMENT, #columns> -> tensor<?x?xELEMENT>
      %d = tile.dot %l, %r, %q compute <COMPUTE> : tensor<?x?xELEMENT>, tensor<?x?xELEMENT>, tensor<?x?xSUM>
      scf.yield %d : tensor<?x?xSUM>
    }
    tile.store %acc, %y[%row, %col] : tensor<?x?xSUM>, memref<4096x4096xSUM>
    tile.return
  }
}
