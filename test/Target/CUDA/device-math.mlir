// RUN: sed -e 's/ROWS/128/g; s/COLS/768/g' %S/wgmma.mlir > %t.mlir
// RUN: cuda-compile %t.mlir -o %t.ptx
// RUN: grep -c ex2.approx.ftz.f32 %t.ptx | FileCheck %s --check-prefix=COUNT
// RUN: grep -c rcp.approx.ftz.f32 %t.ptx | FileCheck %s --check-prefix=COUNT
// RUN: sed -e 's/math.tanh %%s/math.tanh %%s fastmath<nnan>/; s/%%y: memref<128x768xf16>/%%y: memref<128x768xf32>/; s/.*arith.truncf.*//; s/tile.store %%h.*/tile.store %%t, %%y[%%row, %%col] : tensor<?x?xf32>, memref<128x768xf32>/' %t.mlir | cuda-compile | FileCheck %s --check-prefix=WIDE

// Results are rounded to 16 bits: tanh is e^2x by an instruction of the SM and a
// reciprocal, for 32 elements per thread.
// COUNT: {{^}}32{{$}}
// So is a power of two.
// RUN: sed -e 's/math.tanh/math.exp2/' %t.mlir | cuda-compile | FileCheck %s --check-prefix=EXP2
// EXP2-NOT: fma.rn.f32
// EXP2-COUNT-32: ex2.approx.ftz.f32
// EXP2-NOT: fma.rn.f32
// In f32, tanh is a polynomial near 0, and the same form with |x| elsewhere.
// WIDE: abs.f32
// WIDE: ex2.approx.ftz.f32
// WIDE: rcp.approx.ftz.f32
// WIDE: 0f3F200000
// WIDE: st.shared.v2.b32

// RUN: cuda-compile %S/Inputs/functions.mlir | FileCheck %s --check-prefix=FUNCTIONS
// e^x is 2^n 2^y, with an integer n that saturates.
// FUNCTIONS: .entry power(
// FUNCTIONS: fma.rn.sat.f32
// FUNCTIONS: ex2.approx.ftz.f32
// FUNCTIONS: mul.rn.f32
// A weight of a softmax is at most 1, and only its absolute error counts.
// FUNCTIONS: .entry weight(
// FUNCTIONS-NOT: fma.rn
// FUNCTIONS: ex2.approx.ftz.f32
// FUNCTIONS-NOT: fma.rn
// A division by 1 + e^x has no branches, since the divisor is at least 1.
// FUNCTIONS: .entry sigmoid(
// FUNCTIONS: div.full.f32
// Another division is rounded correctly.
// FUNCTIONS: .entry quotient(
// FUNCTIONS-NOT: div.full.f32
// FUNCTIONS: div.rn.f32
// A division by a constant is a product by its reciprocal and two corrections.
// FUNCTIONS: .entry byconstant(
// FUNCTIONS-NOT: div
// FUNCTIONS: mul.rn.f32 {{.*}}, 0f3EAAAAAB
// FUNCTIONS: fma.rn.f32 {{.*}}, 0fC0400000
// FUNCTIONS: fma.rn.f32 {{.*}}, 0f3EAAAAAB
// FUNCTIONS: selp.f32
