// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Blockwise quantized weights of 2, 4 or 8 bits.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHBLOCKS
#define ADZE_DIALECT_GRAPH_IR_GRAPHBLOCKS

include "Dialect/Graph/IR/GraphBase.td"

def Graph_DequantizeBlocksOp : Graph_TensorOp<"dequantize_blocks"> {
  let summary = "Dequantize a matrix with one scale for each block of a row";
  let description = [{
    Element `[n, k]` of the result is `(q - zero) * scale`, where scale and zero
    are those of block `[n, k / block]`. With `P = 8 / bits` elements in a byte,
    q is the number of `bits` bits that starts at bit `bits * (k mod P)` of byte
    `(k mod block) / P` of `packed[n, k / block]`. Without `zeros`, a zero point
    is `2^(bits - 1)`.

    Shapes: `packed` [N, B, block / P] of ui8, `scales` [N, B], `zeros` [N, B] of
    ui8; the result is [N, K] of the element type of `scales`, with
    `K <= B * block`. All shapes are static, `bits` is 2, 4 or 8, and `block` is a
    multiple of 16.

    With `int8_products`, a product that has the result as an operand may
    quantize its other operand to 8 bits, with the same blocks.

    Source: MatMulNBits-1 of com.microsoft; `int8_products` is its
    `accuracy_level` 4.

    Example:
    ```mlir
    %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 32 : i64} : (tensor<16x2x16xui8>, tensor<16x2xf32>) -> tensor<16x64xf32>
    ```
  }];
  let arguments = (ins Graph_IntegerTensor:$packed, Graph_FloatTensor:$scales,
                       Optional<Graph_IntegerTensor>:$zeros, I64Attr:$bits,
                       I64Attr:$block, UnitAttr:$int8_products);
  let results = (outs Graph_FloatTensor:$result);
  let hasVerifier = 1;
}

def Graph_WordMatmulOp : Graph_InferredOp<"word_matmul"> {
  let summary = "Product of rows of 8-bit numbers by blockwise quantized columns, both packed in words of i32";
  let description = [{
    Both operands are quantized by blocks along the contracted dim k. A word of
    `lhs` holds four signed bytes that are consecutive along k, the first in the
    lowest bits. A row of `lhs` has `planes` times the words of a block, and its
    values are `scales * sum(256^p * plane p)`. A word of `rhs` holds `32 / bits`
    consecutive unsigned elements: element `4 * p + b` starts at bit
    `8 * b + bits * p`. The last row of each block of `rhs` holds the bits of the
    f32 scales of the block instead of elements.

        result[m, n] = sum over blocks b of scales[m, b] * scale[b, n] *
            sum over planes p of 256^p * (starts[m, b, p] * zero[b, n] +
                sum over k of lhs[m, b, p, k] * rhs[b, k, n])

    where zero is 1 without `zeros`. The sums over k are exact; those over blocks
    are computed in f32, in the order of the blocks.

    Shapes: `lhs` [.., M, B, planes * block / 4] and `starts` [.., M, B, planes]
    of i32, `scales` [.., M, B] of f32, `rhs` [B, block * bits / 32 + 1, N] of i32,
    `zeros` [B, N] of ui8; the result is [.., M, N] of f32.

    Example:
    ```mlir
    %y = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<5x2x8xi32>, tensor<5x2xf32>, tensor<5x2x1xi32>, tensor<2x5x16xi32>) -> tensor<5x16xf32>
    ```
  }];
  let arguments = (ins Graph_IntegerTensor:$lhs, Graph_FloatTensor:$scales,
                       Graph_IntegerTensor:$starts, Graph_IntegerTensor:$rhs,
                       Optional<Graph_IntegerTensor>:$zeros, I64Attr:$bits,
                       I64Attr:$planes);
  let results = (outs Graph_FloatTensor:$result);
  let extraClassDeclaration = [{
    /// Returns the words of a block in a column of the right operand.
    int64_t getBlockWords();
  }];
}

def Graph_BlockMatmulOp : Graph_InferredOp<"block_matmul"> {
  let summary = "Product of rows of floats by blockwise quantized columns";
  let description = [{
    The right operand is quantized as in `graph.dequantize_blocks`, with as many
    elements as its blocks have, in words of i32: element p of a word is the
    number of `bits` bits that starts at bit `16 * (p mod 2) + bits * (p / 2)`, so
    that one operation extracts two adjacent elements to the halves of a word.
    The left operand has dims for the blocks, the words of a block, and the
    elements of a word.

        result[m, n] = sum over blocks b of scales[n, b] *
            sum over k of lhs[m, b, w, p] * (rhs[n, b, k] - zeros[n, b])

    where k is the number of element p of word w: `w * 32 / bits + p`. Without
    `zeros`, a zero point is `2^(bits - 1)`. Sums are computed in f32.

    Shapes: `lhs` [.., M, B, W, 32 / bits], `rhs` [N, B, W] of i32, `scales`
    [N, B], `zeros` [N, B] of ui8; the result is [.., M, N] of the element type
    of `lhs`.

    Source: MatMulNBits-1 of com.microsoft.

    Example:
    ```mlir
    %y = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<5x2x4x8xf32>, tensor<16x2x4xi32>, tensor<16x2xf32>) -> tensor<5x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$lhs, Graph_IntegerTensor:$rhs,
                       Graph_FloatTensor:$scales,
                       Optional<Graph_IntegerTensor>:$zeros, I64Attr:$bits);
  let results = (outs Graph_FloatTensor:$result);
  let extraClassDeclaration = [{
    /// Returns the number of elements of a block.
    int64_t getBlock();
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHBLOCKS
