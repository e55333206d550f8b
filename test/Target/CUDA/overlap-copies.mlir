// RUN: cuda-compile %s | FileCheck %s

// A kernel starts to copy its constants before it waits for the previous launch, which may
// store the other operand. A mask and the bits that are set are one instruction.
// CHECK: .entry copies(
// CHECK: griddepcontrol.launch_dependents
// CHECK-NOT: ld.global
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// CHECK: griddepcontrol.wait
// CHECK: cp.async.wait_group
// CHECK: ld.global
// CHECK: lop3.b32 {{.*}}, 7340032, 1065353216, 0xEA
// CHECK: mma.sync

#threads = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 1>]>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {
  tile.kernel @copies(%x: memref<8x256xi32> {tile.align = 256 : i64}, %w: memref<16x256xf16> {tile.align = 256 : i64, tile.constant}, %y: memref<8x16xf32> {tile.align = 256 : i64}) attributes {tile.schedule = #threads} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %end = arith.constant 256 : index
    %f0 = arith.constant 0.0 : f32
    %m0 = arith.constant 7340032 : i32
    %one = arith.constant 1065353216 : i32
    %mask = tile.broadcast %m0 to [8, 128] : i32 -> tensor<8x128xi32>
    %ones = tile.broadcast %one to [8, 128] : i32 -> tensor<8x128xi32>
    %zero = tile.broadcast %f0 to [8, 16, 2] : f32 -> tensor<8x16x2xf32>
    %sum = scf.for %k = %c0 to %end step %c128 iter_args(%q = %zero) -> tensor<8x16x2xf32> {
      %i = tile.load %x[0, %k] sizes [8, 128] : memref<8x256xi32> -> tensor<8x128xi32>
      %low = arith.andi %i, %mask : tensor<8x128xi32>
      %bits = arith.ori %low, %ones : tensor<8x128xi32>
      %f = arith.bitcast %bits : tensor<8x128xi32> to tensor<8x128xf32>
      %a = arith.truncf %f : tensor<8x128xf32> to tensor<8x128xf16>
      %b = tile.load %w[0, %k] sizes [16, 128] : memref<16x256xf16> -> tensor<16x128xf16>
      %sa = tile.reshape %a to [8, 2, 64] : tensor<8x128xf16> -> tensor<8x2x64xf16>
      %sb = tile.reshape %b to [16, 2, 64] : tensor<16x128xf16> -> tensor<16x2x64xf16>
      %ea = arith.extf %sa : tensor<8x2x64xf16> to tensor<8x2x64xf32>
      %eb = arith.extf %sb : tensor<16x2x64xf16> to tensor<16x2x64xf32>
      %ra = tile.broadcast %ea to [8, 16, 2, 64] dims [0, 2, 3] : tensor<8x2x64xf32> -> tensor<8x16x2x64xf32>
      %rb = tile.broadcast %eb to [8, 16, 2, 64] dims [1, 2, 3] : tensor<16x2x64xf32> -> tensor<8x16x2x64xf32>
      %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x16x2x64xf32>
      %s = tile.reduce add %m dim 3 : tensor<8x16x2x64xf32> -> tensor<8x16x2xf32>
      %n = arith.addf %q, %s : tensor<8x16x2xf32>
      scf.yield %n : tensor<8x16x2xf32>
    }
    %t = tile.reduce add %sum dim 2 : tensor<8x16x2xf32> -> tensor<8x16xf32>
    tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
    tile.return
  }
}
