// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule | FileCheck %s

// The rows of blocks of attention, and how many heads are computed at a time.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {

// The registers of three warpgroups hold heads of 64. There are 11 waves of 192 rows, and
// 16 of 128, which take 1.2 times as long for a row.
// CHECK: tile.kernel @wide
// CHECK-SAME: #tile.dim<"m", 192>, #tile.dim<"n", 128>, #tile.dim<"k", 64>
func.func private @wide(%q: tensor<64x4096x64xf16>, %k: tensor<64x4096x64xf16>, %v: tensor<64x4096x64xf16>) -> tensor<64x4096x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<64x4096x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x64xf16>) -> tensor<64x4096x64xf16>
  return %0 : tensor<64x4096x64xf16>
}

// Three warpgroups have no registers for a bias.
// CHECK: tile.kernel @bias
// CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 64>
func.func private @bias(%q: tensor<64x4096x64xf16>, %k: tensor<64x4096x64xf16>, %v: tensor<64x4096x64xf16>, %b: tensor<64x4096x4096xf16>) -> tensor<64x4096x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v bias %b {scale = 0.125 : f64} : (tensor<64x4096x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x4096xf16>) -> tensor<64x4096x64xf16>
  return %0 : tensor<64x4096x64xf16>
}

// Three blocks of 192 rows for 512 rows.
// CHECK: tile.kernel @remainder
// CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 64>
func.func private @remainder(%q: tensor<192x512x64xf16>, %k: tensor<192x512x64xf16>, %v: tensor<192x512x64xf16>) -> tensor<192x512x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<192x512x64xf16>, tensor<192x512x64xf16>, tensor<192x512x64xf16>) -> tensor<192x512x64xf16>
  return %0 : tensor<192x512x64xf16>
}

// CHECK: tile.kernel @long
// CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 128>
func.func private @long(%q: tensor<64x4096x128xf16>, %k: tensor<64x4096x128xf16>, %v: tensor<64x4096x128xf16>) -> tensor<64x4096x128xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<64x4096x128xf16>, tensor<64x4096x128xf16>, tensor<64x4096x128xf16>) -> tensor<64x4096x128xf16>
  return %0 : tensor<64x4096x128xf16>
}

// Causal attention: 704 pairs of tiles are five rounds and 88 tiles that the
// multiprocessors divide, so the last pairs of 16 heads should be adjacent tiles.
// CHECK: tile.kernel @divided
// CHECK-SAME: #tile.dim<"m", 192>
// CHECK-SAME: persistent = 16>
func.func private @divided(%q: tensor<64x4096x64xf16>, %k: tensor<64x4096x64xf16>, %v: tensor<64x4096x64xf16>) -> tensor<64x4096x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal = #graph.causal<upper_left>} : (tensor<64x4096x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x64xf16>) -> tensor<64x4096x64xf16>
  return %0 : tensor<64x4096x64xf16>
}

// The last 120 of 384 pairs have a multiprocessor each.
// CHECK: tile.kernel @pairs
// CHECK-SAME: #tile.dim<"m", 128>
// CHECK-SAME: persistent = 2>
func.func private @pairs(%q: tensor<192x512x64xf16>, %k: tensor<192x512x64xf16>, %v: tensor<192x512x64xf16>) -> tensor<192x512x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal = #graph.causal<upper_left>} : (tensor<192x512x64xf16>, tensor<192x512x64xf16>, tensor<192x512x64xf16>) -> tensor<192x512x64xf16>
  return %0 : tensor<192x512x64xf16>
}

// Each head has 63 tiles, so all multiprocessors divide the middle ones. The keys and
// values of 8 heads are 32 MiB, and 6 heads divide 12.
// CHECK: tile.kernel @cached
// CHECK-SAME: #tile.dim<"k", 128>
// CHECK-SAME: persistent = 6>
func.func private @cached(%q: tensor<12x8000x128xf16>, %k: tensor<12x8192x128xf16>, %v: tensor<12x8192x128xf16>) -> tensor<12x8000x128xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal = #graph.causal<upper_left>} : (tensor<12x8000x128xf16>, tensor<12x8192x128xf16>, tensor<12x8192x128xf16>) -> tensor<12x8000x128xf16>
  return %0 : tensor<12x8000x128xf16>
}
}
