// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of any kind in the memory of arun, their files, and their conversion
// to and from the run time.

#ifndef ADZE_TOOLS_RUN_VALUE_H
#define ADZE_TOOLS_RUN_VALUE_H

#include "Tensor.h"

#include <functional>
#include <memory>

namespace adze::run {

struct Value {
  adze_kind kind = ADZE_TENSOR;
  Tensor tensor;                    // dims also of a string tensor
  std::vector<std::string> strings; // row-major
  /// Elements of a sequence, or values of a map; an optional has one or none.
  std::vector<Value> elements;
  /// Keys of a map: a 1-D tensor of integers or strings.
  std::vector<Value> keys;
};

/// Returns a text such as "f32 2x3" or "sequence of 3".
std::string describe(const Value &value);

/// Reads an ONNX TensorProto of numbers or strings; `name` may be empty.
Error readTensorProto(const Bytes &file, Value &value, std::string &name);
Error writeTensorProto(const Value &value, const std::string &name,
                       Bytes &file);

/// Reads the ONNX message for values of that kind: TensorProto, SequenceProto,
/// OptionalProto or MapProto.
Error readValueProto(const Bytes &file, adze_kind kind, Value &value,
                     std::string &name);
Error writeValueProto(const Value &value, const std::string &name, Bytes &file);

/// Reads by extension; values other than numeric tensors are read from .pb
/// only. `dims` is that of readTensor.
Error readValue(const std::string &path, adze_kind kind,
                const std::vector<int64_t> &dims, Value &value,
                std::string &name);

struct ReleaseValue {
  void operator()(adze_value *value) const { adze_value_release(value); }
};
using ValueHandle = std::unique_ptr<adze_value, ReleaseValue>;

/// Copies between values of arun and of the run time.
Error toRuntime(const Value &value, ValueHandle &result);
Error fromRuntime(adze_value *value, Value &result);
void copyTensor(const DLTensor &from, Tensor &to);
/// Gives `to` the type and the shape, and memory for the elements.
void takeShape(const DLTensor &from, Tensor &to);

using CompareTensors =
    std::function<Error(const Tensor &got, const Tensor &expected)>;
/// Returns a description of a difference, or an empty string. Strings and
/// structure must be equal; the function compares tensors.
Error compare(const Value &got, const Value &expected,
              const CompareTensors &compareTensors);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_VALUE_H
