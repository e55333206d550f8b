// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrent layers.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHRECURRENT
#define ADZE_DIALECT_GRAPH_IR_GRAPHRECURRENT

include "Dialect/Graph/IR/GraphBase.td"

def Graph_RecurrentCell : Graph_Enum<"RecurrentCell", "Kind of a recurrent cell", [
  I32EnumCase<"RNN", 0, "rnn">, I32EnumCase<"GRU", 1, "gru">,
  I32EnumCase<"LSTM", 2, "lstm">]>;
def Graph_RecurrentCellAttr : Graph_EnumAttr<Graph_RecurrentCell, "cell">;

def Graph_RecurrentOp : Graph_TensorOp<"recurrent", [AttrSizedOperandSegments]> {
  let summary = "All steps of a recurrent layer in one direction";
  let description = [{
    `gates` [T, B, G * H] are the products of the inputs of all T steps and the
    input weights, plus all biases that are not inside of products: the result of
    a matmul before this op. B is the batch and H the hidden size. The G gates are
    in ONNX's order: one (rnn), z r h (gru), i o f c (lstm). `weights` [G, H, H]
    has a matrix for each gate, which multiplies the state. With x_g for the slice
    of `gates` of gate g, and h_g for the product of state and matrix g, a step
    computes:

      rnn:  h = f(x + h_x)
      gru:  z = f(x_z + h_z), r = f(x_r + h_r), h = (1 - z) * n + z * h, where
            n = g(x_h + (r * h)_h), or with `linear_before_reset`
            n = g(x_h + r * (h_h + bias))
      lstm: i = f(x_i + h_i + p_i * c), d = f(x_d + h_d + p_d * c),
            c = d * c + i * g(x_c + h_c), o = f(x_o + h_o + p_o * c),
            h = o * h'(c), d the forget gate; with `input_forget` d = 1 - i

    `activations` are f, g and h', each the mnemonic of an elementwise op on
    floats, `affine` (alpha * x + beta) or `scaled_tanh` (alpha * tanh(beta * x)).
    `alphas` and `betas` have one element for each activation, and are used by
    those with such attributes. With `clip` c > 0, the arguments of activations
    are clamped to [-c, c]. With `reverse`, the steps run from the last to the
    first. `peephole` [3 * H] holds p_i, p_o and p_d. From step `lengths[b]` on,
    the output of batch b is 0 and its state does not change. The results are all
    outputs [T, B, H], the last state [B, H] and, for lstm, the last cell [B, H].
    Sums are computed in f32 or f64.

    Weights of i8 require `scales` [G, H], the factors of the products of each
    hidden unit, and `weight_sums` [G, H], the sums of the weights of each hidden
    unit. The state is then quantized as by ONNX DynamicQuantizeLinear, with a
    scale and a zero point for each row, and products are summed in 32 bits.

    Source: ONNX RNN-22, GRU-22 and LSTM-22, and DynamicQuantizeLSTM of
    com.microsoft.

    Example:
    ```mlir
    %y, %h = graph.recurrent %x weights %w state %h0 {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$gates, Graph_NumberTensor:$weights,
                       Graph_FloatTensor:$state,
                       Optional<Graph_FloatTensor>:$memory,
                       Optional<Graph_FloatTensor>:$bias,
                       Optional<Graph_FloatTensor>:$peephole,
                       Optional<Graph_IndexTensor>:$lengths,
                       Optional<Graph_FloatTensor>:$scales,
                       Optional<Graph_I32Tensor>:$weight_sums,
                       Graph_RecurrentCellAttr:$cell, StrArrayAttr:$activations,
                       DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas,
                       DefaultValuedAttr<F64Attr, "0.0">:$clip,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse,
                       DefaultValuedAttr<BoolAttr, "false">:$linear_before_reset,
                       DefaultValuedAttr<BoolAttr, "false">:$input_forget);
  let results = (outs Graph_FloatTensor:$output, Graph_FloatTensor:$last_state,
                      Optional<Graph_FloatTensor>:$last_memory);
  let assemblyFormat = [{
    $gates `weights` $weights `state` $state (`memory` $memory^)?
    (`bias` $bias^)? (`peephole` $peephole^)? (`lengths` $lengths^)?
    (`scales` $scales^ `sums` $weight_sums)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of gates G of the cell.
    static int64_t getNumGates(::adze::graph::RecurrentCell cell) {
      return cell == ::adze::graph::RecurrentCell::RNN   ? 1
             : cell == ::adze::graph::RecurrentCell::GRU ? 3
                                                         : 4;
    }
    /// Emits activation `i` on a scalar or tile of the accumulator's type.
    ::mlir::Value buildActivation(::adze::graph::ElementBuilder &builder,
                                  unsigned i, ::mlir::Value x);
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHRECURRENT
