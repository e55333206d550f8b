// RUN: aopt %s | aopt | FileCheck %s

// CHECK: tile.targets = [
// CHECK-SAME: #tile.cpu<chip = "znver4", vector_bytes = 64, caches = [1048576, 33554432], flops_per_byte = 2, units = [#tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4, intrinsic = "llvm.x86.avx512.vpdpbusd">], features = [lane_permute], traits = [split_vector_loads, nontemporal_stores_stall]>,
// CHECK-SAME: #tile.cpu<chip = "x86-64", vector_bytes = 16, caches = [1048576, 33554432]>]
// CHECK: tile.targets = [
// CHECK-SAME: #tile.cuda<chip = "sm_80">,
// CHECK-SAME: #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]
module attributes {tile.targets = [
  #tile.cpu<chip = "znver4", vector_bytes = 64, caches = [1048576, 33554432], flops_per_byte = 2,
            units = [#tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4, intrinsic = "llvm.x86.avx512.vpdpbusd">],
            features = [lane_permute], traits = [split_vector_loads, nontemporal_stores_stall]>,
  #tile.cpu<chip = "x86-64", vector_bytes = 16, caches = [1048576, 33554432]>]} {
}
module attributes {tile.targets = [
  #tile.cuda<chip = "sm_80">,
  #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
             units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
}
