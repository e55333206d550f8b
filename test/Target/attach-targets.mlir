// RUN: aopt %s --tile-attach-targets="cpu=znver4,x86-64-v3 triple=x86_64" | FileCheck %s
// RUN: aopt %s --tile-attach-targets="cpu=alderlake,x86-64 triple=x86_64" | FileCheck %s --check-prefix=NARROW
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a | FileCheck %s --check-prefix=CUDA
// RUN: not aopt %s --tile-attach-targets="cpu=znver4 cuda=sm_90a triple=x86_64" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: aopt %s --tile-attach-targets="cpu=neoverse-v2 triple=aarch64 caches=512K,4M,nontemporal_stores_stall" | FileCheck %s --check-prefix=ARM
// RUN: not aopt %s --tile-attach-targets="cpu=z80 triple=x86_64" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not aopt %s --tile-attach-targets=cuda=sm_1 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not aopt %s --tile-attach-targets="cpu=x86-64 triple=x86_64 caches=1M" 2>&1 | FileCheck %s --check-prefix=CACHES

// Targets of the module are replaced.
// CHECK: module attributes {tile.targets = [
// CHECK-SAME: #tile.cpu<chip = "znver4", vector_bytes = 64, caches = [1048576, 33554432], flops_per_byte = 2, units = [#tile.unit<"pmaddwd", si16 * si16 + si32, [1, 16, 2], group = 2, intrinsic = "llvm.x86.avx512.pmaddw.d.512">, #tile.unit<"pmaddubsw", ui8 * si8 + si16, [1, 32, 2], group = 2, intrinsic = "llvm.x86.avx512.pmaddubs.w.512">, #tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4, intrinsic = "llvm.x86.avx512.vpdpbusd">, #tile.unit<"bf16", bf16 * bf16 + f32, [1, 16, 2], group = 2, intrinsic = "llvm.x86.avx512bf16.dpbf16ps">], features = [lane_permute, byte_permute], traits = [split_vector_loads, nontemporal_stores_stall]>,
// CHECK-SAME: #tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [524288, 16777216], units = [#tile.unit<"pmaddwd", si16 * si16 + si32, [1, 8, 2], group = 2, intrinsic = "llvm.x86.avx2.pmadd.wd">, #tile.unit<"pmaddubsw", ui8 * si8 + si16, [1, 16, 2], group = 2, intrinsic = "llvm.x86.avx2.pmadd.ub.sw">], features = [lane_permute]>]
// NARROW: chip = "alderlake"{{.*}}#tile.unit<"vnni", ui8 * si8 + si32, [1, 8, 4], group = 4, intrinsic = "llvm.x86.avx512.vpdpbusd">]
// NARROW-SAME: chip = "x86-64", vector_bytes = 16, {{.*}}units = [#tile.unit<"pmaddwd", si16 * si16 + si32, [1, 4, 2], group = 2, intrinsic = "llvm.x86.sse2.pmadd.wd">]
// CUDA: tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>, #tile.unit<"wgmma", bf16 * bf16 + f32, [64, 256, 16]>, #tile.unit<"wgmma", tf32 * tf32 + f32, [64, 256, 8]>, #tile.unit<"wgmma", ui8 * si8 + si32, [64, 256, 32]>, #tile.unit<"wgmma", si8 * si8 + si32, [64, 256, 32]>, #tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>, #tile.unit<"mma", bf16 * bf16 + f32, [16, 8, 16]>, #tile.unit<"mma", tf32 * tf32 + f32, [16, 8, 8]>, #tile.unit<"mma", ui8 * si8 + si32, [16, 8, 32]>, #tile.unit<"mma", si8 * si8 + si32, [16, 8, 32]>], features = [tma]>]}
// BOTH: error: expected tile.targets to be targets of one kind of device
// ARM: [#tile.cpu<chip = "neoverse-v2", vector_bytes = 16, caches = [524288, 4194304], traits = [nontemporal_stores_stall]>]
// CPU: error: unknown CPU 'z80'
// GPU: error: {{.*}}sm_1
// CACHES: error: expected the sizes of the second and third level as in 1M,32M, but got '1M'
module attributes {tile.targets = [#tile.cuda<chip = "sm_80">]} {
}
