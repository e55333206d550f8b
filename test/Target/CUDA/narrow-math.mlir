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
// Results of 32 bits require the function in full precision.
// WIDE-NOT: {{(ex2|rcp).approx.ftz}}
// WIDE: st.shared.v2.b32
