// The hand-written kernels as AVX-512 code: their inner loops consist of multiply-adds
// and loads, without stack accesses.
// DEFINE: %{kernel} =
// DEFINE: %{prefix} =
// DEFINE: %{check} = aopt %examples/kernels/%{kernel}.mlir --pass-pipeline='builtin.module(tile-attach-targets{cpu=x86-64-v4},tile-specialize,convert-tile-to-vector,canonicalize,cse,math-approximate,loop-invariant-code-motion,cse,arith-expand,lower-vectors,lower-loops,convert-kernel-to-llvm)' \
// DEFINE:   | mlir-translate --mlir-to-llvmir | opt -O2 -mcpu=skylake-avx512 -mattr=-prefer-256-bit -S \
// DEFINE:   | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512 -mattr=-prefer-256-bit -relocation-model=pic \
// DEFINE:   | FileCheck %s --check-prefix=%{prefix}

// REDEFINE: %{kernel} = gemm-bias-gelu
// REDEFINE: %{prefix} = GEMM
// RUN: %{check}

// REDEFINE: %{kernel} = conv3x3
// REDEFINE: %{prefix} = CONV
// RUN: %{check}

// REDEFINE: %{kernel} = depthwise3x3
// REDEFINE: %{prefix} = DEPTH
// RUN: %{check}

// REDEFINE: %{kernel} = softmax
// REDEFINE: %{prefix} = SOFTMAX
// RUN: %{check}

// REDEFINE: %{kernel} = attention
// REDEFINE: %{prefix} = ATTENTION
// RUN: %{check}

// One step of k: 16 multiply-adds, 8 broadcasts, 2 loads of B.
// GEMM-LABEL: gemm_bias_gelu
// GEMM: Inner Loop Header
// GEMM-NOT: Spill
// GEMM-NOT: Reload
// GEMM: vfmadd231ps {{.*}}zmm
// GEMM-NOT: {{Spill|Reload|rsp}}
// GEMM-COUNT-15: vfmadd231ps {{.*}}zmm
// GEMM-NOT: {{Spill|Reload|rsp}}
// GEMM: {{jb|jne|jl|jae}} .LBB

// Seven pixels by 32 channels.
// CONV-LABEL: conv3x3
// CONV: Inner Loop Header
// CONV-NOT: {{Spill|Reload|rsp}}
// CONV-COUNT-14: vfmadd231ps {{.*}}zmm
// CONV-NOT: {{Spill|Reload|rsp}}
// CONV: {{jb|jne|jl|jae}} .LBB

// DEPTH-LABEL: depthwise3x3
// DEPTH: Inner Loop Header
// DEPTH-NOT: {{Spill|Reload|rsp}}
// DEPTH-COUNT-14: vfmadd{{.*}}zmm
// DEPTH: {{jb|jne|jl|jae}} .LBB

// One instruction per vector for the maximum; for 4 exponentials at once, step by step, 6
// multiply-adds including the reduction, one selection of a root of two, one comparison,
// and one instruction for the power of two and for results that would be subnormal.
// SOFTMAX-LABEL: softmax
// SOFTMAX: vmaxps {{.*}}zmm
// SOFTMAX-NOT: vcmp
// SOFTMAX: Inner Loop Header
// SOFTMAX-NOT: {{Spill|Reload}}
// SOFTMAX-COUNT-4: vfmsub213ps {{.*}}zmm
// SOFTMAX-NOT: {{Spill|Reload}}
// SOFTMAX-COUNT-16: vfmadd{{.*}}zmm
// SOFTMAX-COUNT-4: vpermps {{.*}}zmm
// SOFTMAX-COUNT-4: vfmadd{{.*}}zmm
// SOFTMAX-COUNT-4: vscalefps {{.*}} {%k{{[1-7]}}} {z}
// SOFTMAX-NOT: {{Spill|Reload}}
// SOFTMAX: {{jb|jne|jl|jae}} .LBB

// The two products of attention.
// ATTENTION-LABEL: attention
// ATTENTION: Inner Loop Header
// ATTENTION-NOT: {{Spill|Reload|rsp}}
// ATTENTION-COUNT-16: vfmadd231ps {{.*}}zmm
// ATTENTION-NOT: {{Spill|Reload|rsp}}
// ATTENTION: {{jb|jne|jl|jae}} .LBB
