// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions to narrow integers: a part of Passes.td.

def NarrowConversions : Pass<"narrow-conversions", "mlir::func::FuncOp"> {
  let summary = "Convert bounded floats to narrow integers through i32";
  let description = [{
    A cast of a float to an integer of less than 64 bits goes through i64, so that
    values out of range wrap. If minima and maxima with constants bound the float,
    as in quantisation, i32 holds it, and a vector is converted by one instruction
    and packed by another. Casts to integers of 32 bits stay, as NaN would give
    other bits. The conversion also rounds to the nearest, ties to even, if the
    bounds are integers. A zero point that is added after the rounding is added to
    the integers, and the bounds of the float are moved by it. If the target has
    fused multiply-adds, a vector of f32 that was divided by a constant is
    multiplied by the reciprocal instead, with two steps of correction that give
    the rounded quotient (Markstein's theorem).

    ```mlir
    %0 = math.roundeven %x : vector<16xf32>
    %clamped = arith.minimumf %0, %c255 : vector<16xf32>  // of a maximum with 0
    %1 = arith.fptosi %clamped : vector<16xf32> to vector<16xi64>
    %2 = arith.trunci %1 : vector<16xi64> to vector<16xi8>
    ```
    becomes
    ```mlir
    %clamped = arith.minimumf %x, %c255 : vector<16xf32>
    %1 = llvm.intr.lrint(%clamped) : (vector<16xf32>) -> vector<16xi32>
    %2 = arith.trunci %1 : vector<16xi32> to vector<16xi8>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"numNarrowed", "narrowed", "Conversions through i32">];
}

def PackStores : Pass<"pack-stores", "mlir::func::FuncOp"> {
  let summary = "Narrow rounded vectors by saturating packs of x86";
  let description = [{
    Vectors of words that are stored as bytes are narrowed four at a time: two
    packs give halves of words, one gives bytes, and one permutation restores the
    order of the elements, which takes half the instructions of four truncations.
    The packs saturate, so a lower bound that is the least byte is omitted, and
    zero points are added to the halves. The vectors are adjacent in memory, or two
    and two are. Requires AVX2 or AVX-512BW, and stores between which no op accesses
    memory. NaN, whose conversion is undefined, becomes the least byte.

    ```mlir
    %0 = llvm.intr.lrint(%x0) : (vector<16xf32>) -> vector<16xi32>  // %x0: bounded
    %1 = arith.trunci %0 : vector<16xi32> to vector<16xi8>
    vector.store %1, %y[%i, %c0] : memref<2x64xi8>, vector<16xi8>  // and %x1 to %x3
    ```
    becomes
    ```mlir
    %0 = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"(%w0, %w1) : ..  // %w0: of %x0
    %1 = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"(%w2, %w3) : ..
    %2 = llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%0, %1) : ..
    %3 = vector.shuffle %2, %2 [0, 4, 8, .., 15] : vector<16xi32>, vector<16xi32>
    vector.store %3, %y[%i, %c0] : memref<2x64xi8>, vector<64xi8>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numPacked", "packed", "Stores that are combined">];
}
