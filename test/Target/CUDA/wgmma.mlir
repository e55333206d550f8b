// The PTX of a product that tile-choose-schedule assigns to wgmma, with an epilogue. All
// values of the result stay in registers.
// DEFINE: %{size} = s/ROWS/1024/g; s/COLS/4096/g
// DEFINE: %{sized} = sed -e '%{size}' %s
// RUN: %{sized} | cuda-compile | FileCheck %s --implicit-check-not='{{(ld|st)[.]local}}'

// CHECK: .target sm_90a
// CHECK: .visible .entry product(
// CHECK: .param .align 64 .b8 {{.*}}[128]
// CHECK: .maxntid 384
// CHECK-DAG: mbarrier.init.shared
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 40
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232
// CHECK-DAG: mbarrier.try_wait.parity
// CHECK-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-DAG: wgmma.wait_group.sync.aligned 1
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: cp.async.bulk.tensor.2d.global.shared::cta

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @product(%a: memref<ROWSx1032xf16>, %b: memref<1032xCOLSxf16>, %c: memref<COLSxf16>, %y: memref<ROWSxCOLSxf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %depth = arith.constant 1032 : index
    %rows = arith.constant ROWS : index
    %cols = arith.constant COLS : index
    %f0 = arith.constant 0.0 : f32
    %gm = arith.ceildivui %rows, %bm : index
    %gn = arith.ceildivui %cols, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %depth step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<ROWSx1032xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<1032xCOLSxf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %v = tile.load %c[%col] sizes [%bn] : memref<COLSxf16> -> tensor<?xf16>
    %w = arith.extf %v : tensor<?xf16> to tensor<?xf32>
    %bias = tile.broadcast %w to [%bm, %bn] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
    %s = arith.addf %acc, %bias : tensor<?x?xf32>
    %t = math.tanh %s : tensor<?x?xf32>
    %h = arith.truncf %t : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<ROWSxCOLSxf16>
    tile.return
  }
}
