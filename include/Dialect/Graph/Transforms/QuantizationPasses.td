// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over quantized models.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_QUANTIZATIONPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_QUANTIZATIONPASSES

include "mlir/Pass/PassBase.td"

def SinkDequantizationPass
    : Pass<"graph-sink-dequantization", "::mlir::func::FuncOp"> {
  let summary = "Move and pool tensors before they are dequantized";
  let description = [{
    Reshapes, transposes, slices, concatenations, gathers and maximum pooling of
    tensors that are dequantized from 8-bit integers, with one scale and one zero
    point, are applied to the integers, and their results are dequantized instead.
    Results are bitwise equal: these ops select elements, and dequantization is
    monotonic.

    Before:
    ```mlir
    %s = graph.constant dense<0.5> : tensor<f32>
    %0 = graph.cast %p : (tensor<2x8xui8>) -> tensor<2x8xf32>
    %1 = graph.mul %0, %s : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %2 = graph.transpose %1 {perm = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
    ```
    After:
    ```mlir
    %0 = graph.transpose %p {perm = array<i64: 1, 0>} : (tensor<2x8xui8>) -> tensor<8x2xui8>
    %1 = graph.cast %0 : (tensor<8x2xui8>) -> tensor<8x2xf32>
    %2 = graph.mul %1, %s : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    ```
  }];
  let statistics = [
    Statistic<"sunk", "sunk", "Ops applied to integers">,
  ];
}

def QuantizeWeightsPass
    : Pass<"graph-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Quantize constant weights of f32 products to 4 or 8 bits";
  let description = [{
    The constant matrix of a product of f32 tensors becomes a
    `graph.dequantize_blocks`: integers of `bits` bits, with an f32 scale for each
    `block` elements along the contracted dim. With 8 bits, the scale is that of
    the greatest magnitude; with 4 bits, it is the one of several candidates with
    the least squared error. `graph-form-block-products` keeps the integers packed;
    the other operand keeps the precision of f32.

    Products whose contracted dim is smaller than a block, and products by splats
    or by weights that are not finite, are not changed. An analysis remark on each
    product states the quantization error: the L2 norm of the difference, relative
    to that of the weight.

    The pass fails unless every target is a CPU with a unit for
    `ui8 * si8 + si32` (`tile.targets`): on other targets the weights would be
    expanded again.

    Before (cpu=znver4):
    ```mlir
    %w = graph.constant dense<[[-8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]> : tensor<1x16xf32>
    %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x16xf32>, tensor<1x16xf32>) -> tensor<5x1xf32>
    ```
    After (block=16):
    ```mlir
    %p = graph.constant dense<"0x90BADCFE90BADCFE"> : tensor<1x1x8xui8>
    %s = graph.constant dense<1.0> : tensor<1x1xf32>
    %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 16 : i64} : (tensor<1x1x8xui8>, tensor<1x1xf32>) -> tensor<1x16xf32>
    %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x16xf32>, tensor<1x16xf32>) -> tensor<5x1xf32>
    ```
  }];
  let options = [
    Option<"bits", "bits", "int64_t", /*default=*/"4", "Bits of a weight: 4 or 8">,
    Option<"block", "block", "int64_t", /*default=*/"32",
           "Elements that share a scale: a multiple of 16">,
  ];
  let statistics = [
    Statistic<"quantized", "quantized", "Products with quantized weights">,
  ];
}

def FormBlockProductsPass
    : Pass<"graph-form-block-products", "::mlir::func::FuncOp"> {
  let summary = "Keep blockwise quantized weights packed in products";
  let description = [{
    A matrix product by the transpose of `graph.dequantize_blocks` becomes a
    `graph.word_matmul`. The weight stays packed, with the scales of a block after
    its words, and the rows of the other operand are quantized to signed bytes
    with the same blocks. With `int8_products`, one plane of bytes is used.
    Without, three planes hold 24 bits of each element relative to the greatest
    one of its block, so the error is that of f32 rounding.

    Products stay in f32 unless every target is a CPU with a unit for
    `ui8 * si8 + si32` (`tile.targets`) and the weight is a constant. Each
    remaining `graph.dequantize_blocks` is expanded into shifts, a subtraction and
    a multiplication.

    Before (cpu=znver4):
    ```mlir
    %p = graph.constant dense<17> : tensor<16x1x8xui8>
    %s = graph.constant dense<0.5> : tensor<16x1xf32>
    %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 16 : i64, int8_products} : (tensor<16x1x8xui8>, tensor<16x1xf32>) -> tensor<16x16xf32>
    %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x16xf32>, tensor<16x16xf32>) -> tensor<5x16xf32>
    ```
    After, where `%words`, `%scales` and `%starts` are made of `%x`:
    ```mlir
    %y = graph.word_matmul %words, %scales, %starts, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<5x1x4xi32>, tensor<5x1xf32>, tensor<5x1x1xi32>, tensor<1x3x16xi32>) -> tensor<5x16xf32>
    ```
  }];
  let options = [
    Option<"form", "form", "bool", /*default=*/"true",
           "Form products of words; if false, only expand dequantize_blocks">,
  ];
  let statistics = [
    Statistic<"formed", "formed", "Products with packed weights">,
  ];
}

def SetPrecisionPass : Pass<"graph-set-precision", "::mlir::ModuleOp"> {
  let summary = "Compute products of f32 tensors in a narrower type";
  let description = [{
    The operands of matrix products and convolutions by constants are rounded to
    `type`, and the products are summed in f32 (`wide_result`); later ops compute
    in f32. The casts of weights are folded, and those of activations become part
    of the kernels that store them. Grouped convolutions, products of two
    activations, and products whose contracted dim is not a multiple of the
    group of the unit stay in f32. Channels of an image are padded to whole
    groups, together with the borders of the convolution, if the products of
    padding cost less than those of groups gain; not for units that multiply
    matrices, which would mostly multiply padding.

    For GPUs, attention also rounds query, keys and values, before ops that only
    move their elements, and its weights and result. Scores, biases, maxima and
    sums stay in f32. The same holds for CPUs with a unit that multiplies
    matrices, if no product is in `wide`, the elements of a value are a multiple
    of the unit's rows, and products compute query, keys and values. Attention of
    others, such as caches, keeps operands of f32, and `graph.precision` allows
    the unit to round them. A few queries stay in f32.

    The pass fails unless every target (`tile.targets`) has a unit for the type.

    tf32 is not a tensor type. For GPUs, products, including those of two
    activations, keep operands of f32, and `graph.precision = tf32` allows the
    unit to round them. Attention, and everything for CPUs, stays in f32 then.

    Before (cpu=znver4):
    ```mlir
    %w = graph.constant dense<0.5> : tensor<8x4xf32>
    %y = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    ```
    After:
    ```mlir
    %0 = graph.cast %x : (tensor<2x8xf32>) -> tensor<2x8xbf16>
    %1 = graph.cast %w : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    %y = graph.matmul %0, %1 {wide_result} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", /*default=*/"\"bf16\"",
           "The type of products: bf16, f16 or tf32">,
    ListOption<"wide", "wide", "int64_t",
               "Products that stay in f32, by their indices in the order of the "
               "module, counting matrix products and convolutions of one group "
               "by f32 constants">,
  ];
  let statistics = [
    Statistic<"narrowed", "narrowed", "Products in the narrower type">,
  ];
}

def ProbePrecisionPass : Pass<"graph-probe-precision", "::mlir::ModuleOp"> {
  let summary = "Let an input select the products that round to a narrower type";
  let description = [{
    The resulting module measures the error that each product contributes in
    `graph-set-precision`. It computes in f32, and has one more input,
    `adze.narrow`, with one bool for each product, in the order of the module. If
    it is true, the product rounds both operands to `type` and back. The module
    attribute `graph.probed_products` has the name and the number of
    multiplications of each product; dynamic dims count as 1. The pass fails if
    there are products in bodies of control flow.

    Before:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<8x4xf32>
    %y = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    ```
    After, where the weights are rounded likewise:
    ```mlir
    %0 = graph.slice %narrow {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<1xi1>) -> tensor<1xi1>
    %1 = graph.cast %x : (tensor<2x8xf32>) -> tensor<2x8xbf16>
    %2 = graph.cast %1 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %3 = graph.select %0, %2, %x : (tensor<1xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %y = graph.matmul %3, %7 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", /*default=*/"\"bf16\"",
           "The type that products round to: bf16 or f16">,
  ];
}

def NarrowStoragePass : Pass<"graph-narrow-storage", "::mlir::ModuleOp"> {
  let summary = "Store intermediate tensors in the type of the products";
  let description = [{
    The f32 result of a cluster whose users are all clusters is rounded before it
    is stored, if its cluster has a product in a narrower type
    (`graph-set-precision`), if it is also stored in that type, or if all users
    round it. This halves the bytes, and leaves one tensor instead of two. Users
    extend it, and compute in f32 as before. Clusters that only rounded it are
    removed. Outputs of the model are not changed. On CPUs, operands of attention
    and of products of two activations are not changed either, as each element
    would be extended many times.

    Before:
    ```mlir
    %0 = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32> {
      %p = graph.matmul %a, %b {wide_result} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32>
      graph.yield %p : tensor<2x4xf32>
    }
    %y = graph.cluster(%c = %0) anchor "pointwise" : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      %q = graph.relu %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
      graph.yield %q : tensor<2x4xf32>
    }
    ```
    After:
    ```mlir
    %0 = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
      %p = graph.matmul %a, %b {wide_result} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32>
      %r = graph.cast %p : (tensor<2x4xf32>) -> tensor<2x4xf16>
      graph.yield %r : tensor<2x4xf16>
    }
    %y = graph.cluster(%c = %0) anchor "pointwise" : (tensor<2x4xf16>) -> tensor<2x4xf32> {
      %d = graph.cast %c : (tensor<2x4xf16>) -> tensor<2x4xf32>
      %q = graph.relu %d : (tensor<2x4xf32>) -> tensor<2x4xf32>
      graph.yield %q : tensor<2x4xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"narrowed", "narrowed", "Tensors stored in a narrower type">,
  ];
}

def FormIntegerProductsPass
    : Pass<"graph-form-integer-products", "::mlir::func::FuncOp"> {
  let summary = "Compute products of dequantized tensors in integers";
  let description = [{
    A convolution or matrix product of two tensors that are dequantized from 8-bit
    integers becomes one of the integers, with exact 32-bit sums, and the scales
    are applied to the sums: the product of `(p - z) * s` and `q * t` is
    `(sum(p * q) - z * sum(q)) * (s * t)`. The activation has one scale and one
    zero point, and becomes unsigned. The weight is a constant whose zero point is
    the middle of its range, and becomes signed; it has a scale for each output
    channel or one for all. The padding of a convolution is the zero point. The
    contracted dim of a matrix product has to be a multiple of 4, for GPUs of 16;
    channels of a convolution are padded to a multiple, except for those of which
    graph-space-to-depth makes more channels. The bias of a convolution is added
    to the sums if it is dequantized from 32-bit integers by the scales
    `s * t`, and to the results otherwise.

    The pass does nothing unless every target has a unit for `ui8 * si8 + si32`
    (`tile.targets`). Grouped convolutions stay in f32. In a product of two
    activations, GPUs with a unit for f16 multiply the differences of bytes and zero
    points as f16, which holds them exactly, with sums of f32; on CPUs it stays in
    f32. Both operands have one scale.

    As the sums are exact, a result differs from that of f32 arithmetic only by
    the rounding errors of the f32 sums.

    Before (cpu=znver4):
    ```mlir
    %w = graph.constant dense<3> : tensor<8x4xi8>
    %s = graph.constant dense<0.5> : tensor<f32>
    %z = graph.constant dense<128.0> : tensor<f32>
    %0 = graph.cast %p : (tensor<2x8xui8>) -> tensor<2x8xf32>
    %1 = graph.sub %0, %z : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %2 = graph.mul %1, %s : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %3 = graph.cast %w : (tensor<8x4xi8>) -> tensor<8x4xf32>
    %4 = graph.mul %3, %s : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %5 = graph.matmul %2, %4 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    ```
    After, with the constants `%shift` and `%scale` of four columns:
    ```mlir
    %0 = graph.matmul %p, %w : (tensor<2x8xui8>, tensor<8x4xi8>) -> tensor<2x4xi32>
    %1 = graph.add %0, %shift : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %2 = graph.cast %1 : (tensor<2x4xi32>) -> tensor<2x4xf32>
    %3 = graph.mul %2, %scale : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let statistics = [
    Statistic<"formed", "formed", "Products computed in integers">,
  ];
}

def FormByteTablesPass : Pass<"graph-form-byte-tables", "::mlir::ModuleOp"> {
  let summary = "Compute functions of a quantized value by a table";
  let description = [{
    If a tensor of bytes is computed from one other tensor of bytes, elementwise
    and with constant scalars, by an exponential, a logarithm or a function of
    these, or by 12 or more other operations, its elements are looked up in a table
    of the 256 values, which the constant evaluator computes. Bytes that are quantized and dequantized on
    the way, as the terms of a GELU, are no obstacle. Without an evaluator, nothing
    changes.

    Before:
    ```mlir
    %s = graph.constant dense<0.05> : tensor<f32>
    %t = graph.constant dense<0.004> : tensor<f32>
    %0 = graph.cast %x : (tensor<2x4xui8>) -> tensor<2x4xf32>
    %1 = graph.mul %0, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %2 = graph.tanh %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = graph.div %2, %t : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %4 = graph.cast %3 : (tensor<2x4xf32>) -> tensor<2x4xui8>
    ```
    After:
    ```mlir
    %4 = graph.byte_lookup %x {table = dense<"0x000C1825313D48545E69737D868E979EA6ACB3B8BEC3C8CCD0D4D7DADDDFE2E4E6E8E9EBECEDEFF0F1F1F2F3F3F4F5F5F5F6F6F6F7F7F7F7F8F8F8F8F8F8F8F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9"> : tensor<256xui8>} : (tensor<2x4xui8>) -> tensor<2x4xui8>
    ```
  }];
  let statistics = [
    Statistic<"numTables", "tables", "Tables formed">,
  ];
}

def FoldRequantizationPass
    : Pass<"graph-fold-requantization", "::mlir::func::FuncOp"> {
  let summary = "Fold the scales, zero points and bounds of a requantization";
  let description = [{
    If integers are dequantized, added, clamped and quantized to 8 bits again,
    the scales, zero points and bounds of activations are folded into one factor
    for each term, one summand, and one pair of bounds. Factors and summand are
    computed in f64 and rounded once. The bounds are applied after the rounding,
    which is monotonic. The last zero point is added between the two: before the
    rounding, the sum with it would have fewer bits after the point.

    Divisions become multiplications by reciprocals, and sums are rounded in
    another order. So a value that lies halfway between two quantization steps,
    within rounding errors, may be rounded to the other step. Quantizations of
    values that are not computed from integers are not changed. Bytes that are
    quantized by the scale and zero point that they were dequantized by stay as
    they are. Bytes that are quantized, moved, and operands of a static product of
    two activations in f16 are converted to f16 before they are moved.

    Before:
    ```mlir
    %s = graph.constant dense<0.3> : tensor<f32>
    %t = graph.constant dense<0.6> : tensor<f32>
    %low = graph.constant dense<0.0> : tensor<f32>
    %high = graph.constant dense<255.0> : tensor<f32>
    %0 = graph.cast %sum : (tensor<2x4xi32>) -> tensor<2x4xf32>
    %1 = graph.mul %0, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %2 = graph.relu %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = graph.div %2, %t : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %4 = graph.round %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = graph.maximum %4, %low : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %6 = graph.minimum %5, %high : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %7 = graph.cast %6 : (tensor<2x4xf32>) -> tensor<2x4xui8>
    ```
    After, with `%u` the constant 0.3 / 0.6:
    ```mlir
    %0 = graph.cast %sum : (tensor<2x4xi32>) -> tensor<2x4xf32>
    %1 = graph.mul %0, %u : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %2 = graph.round %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = graph.maximum %2, %low : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %4 = graph.minimum %3, %high : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %5 = graph.cast %4 : (tensor<2x4xf32>) -> tensor<2x4xui8>
    ```
  }];
  let statistics = [
    Statistic<"folded", "folded", "Requantizations folded">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_QUANTIZATIONPASSES
