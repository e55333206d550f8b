// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Softmax and the normalisations.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHNORMALIZATION
#define ADZE_DIALECT_GRAPH_IR_GRAPHNORMALIZATION

include "Dialect/Graph/IR/GraphBase.td"

/// A normalization whose result has the type of its first operand.
class Graph_NormOp<string mnemonic, int flopsPerElement,
                   list<Trait> traits = []>
    : Graph_InferredOp<mnemonic, traits> {
  let results = (outs Graph_FloatTensor:$result);
  let familyDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (failed(verifyOperands(location, adaptor)))
        return ::mlir::failure();
      types.push_back(adaptor.getInput().getType());
      return ::mlir::success();
    }
    ::mlir::AffineExpr $cppClass::getFlops() {
      return ::adze::graph::op_detail::getElementCost(
          getContext(), getInput().getType(), }] # flopsPerElement # [{);
    }
  }];
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult
    verifyOperands(std::optional<::mlir::Location> location, Adaptor adaptor);
  }];
}

class Graph_SoftmaxLikeOp<string mnemonic, string formula, string onnx,
                          int flopsPerElement>
    : Graph_NormOp<mnemonic, flopsPerElement> {
  let summary = formula # " along one dim";
  let description = [{
    Computes `}] # formula # [{` along dim `axis` >= 0, after the maximum has been
    subtracted from x. Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x {axis = 1 : i64} : (tensor<2x10xf32>) -> tensor<2x10xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$axis);
}
def Graph_SoftmaxOp
    : Graph_SoftmaxLikeOp<"softmax", "e^x / sum(e^x)", "Softmax-13", 5>;
def Graph_LogSoftmaxOp
    : Graph_SoftmaxLikeOp<"log_softmax", "x - ln(sum(e^x))", "LogSoftmax-13", 5>;

def Graph_LayerNormOp : Graph_NormOp<"layer_norm", 8, [AttrSizedOperandSegments]> {
  let summary = "Layer normalisation";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`. Mean and
    (biased) variance are those over dims `axis` and up, computed in f32 or f64.
    `scale` and `bias` have the element type of the input and broadcast to it.
    Source: ONNX LayerNormalization-17.

    Example:
    ```mlir
    %y = graph.layer_norm %x scale %s bias %b {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<2x128x768xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input,
                       Optional<Graph_FloatTensor>:$scale,
                       Optional<Graph_FloatTensor>:$bias, I64Attr:$axis,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let assemblyFormat = [{
    $input (`scale` $scale^)? (`bias` $bias^)? attr-dict `:`
    functional-type(operands, results)
  }];
}
def Graph_RMSNormOp : Graph_NormOp<"rms_norm", 5> {
  let summary = "Normalisation by the root of the mean square";
  let description = [{
    Computes `x / sqrt(mean(x^2) + epsilon) * scale`. The mean is that over dims
    `axis` and up. `scale` has the element type of the input and broadcasts to it.
    Source: ONNX RMSNormalization-23; Zhang and Sennrich, "Root Mean Square Layer
    Normalization", 2019.

    Example:
    ```mlir
    %y = graph.rms_norm %x, %s {axis = 1 : i64} : (tensor<2x768xf32>, tensor<768xf32>) -> tensor<2x768xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input,
                       Optional<Graph_FloatTensor>:$scale, I64Attr:$axis,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
}
def Graph_BatchNormOp : Graph_NormOp<"batch_norm", 4> {
  let summary = "Normalisation of each channel by given statistics";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`. `scale`,
    `bias`, `mean` and `variance` have one element for each index of dim `axis`,
    and the element type of the input. Source: ONNX BatchNormalization-15.

    Example:
    ```mlir
    %y = graph.batch_norm %x, %s, %b, %m, %v : (tensor<1x64x56x56xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                       Graph_FloatTensor:$variance,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$axis);
}
def Graph_InstanceNormOp : Graph_NormOp<"instance_norm", 8> {
  let summary = "Normalisation of each channel of each sample";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`. Mean and
    (biased) variance are those over all dims but the first and dim `axis`. `scale`
    and `bias` have one element for each index of dim `axis`. Source: ONNX
    InstanceNormalization-22.

    Example:
    ```mlir
    %y = graph.instance_norm %x, %s, %b : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon,
                       DefaultValuedAttr<I64Attr, "1">:$axis);
}
def Graph_GroupNormOp : Graph_NormOp<"group_norm", 8> {
  let summary = "Normalisation of each group of channels of each sample";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`. Dim 1, the
    channels, is divided into `groups` groups of equal size, and mean and (biased)
    variance are those over a group and all later dims. `scale` and `bias` have
    one element for each channel. `groups` divides the number of channels. Source:
    ONNX GroupNormalization-21.

    Example:
    ```mlir
    %y = graph.group_norm %x, %s, %b {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, I64Attr:$groups,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHNORMALIZATION
