// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX values of any kind: from test data, to and from the run time, compared.
#ifndef ADZE_TESTS_CONFORMANCE_VALUE_H
#define ADZE_TESTS_CONFORMANCE_VALUE_H

#include "Tensor.h"
#include <memory>

namespace conformance {

using adze::run::Error;
using adze::run::Tensor;

struct Value {
  adze_kind kind = ADZE_TENSOR;
  Tensor tensor;                    // dims also of a string tensor
  std::vector<std::string> strings; // row-major
  /// Of a sequence or a map; an optional has one or none.
  std::vector<Value> elements;
  /// Of a map: a 1-D tensor of integers or strings.
  std::vector<Value> keys;
};

struct ReleaseValue {
  void operator()(adze_value *value) const { adze_value_release(value); }
};
using ValueHandle = std::unique_ptr<adze_value, ReleaseValue>;

/// The message of a status, which is freed; empty for success.
Error take(adze_status status);

/// Copies between our values and the run time's.
Error toRuntime(const Value &value, ValueHandle &result);
Error fromRuntime(adze_value *value, Value &result);
void copyTensor(const DLTensor &from, Tensor &to);

/// What ONNX's own runner allows: 1e-3 of the expected number and 1e-7, two
/// ulps of a bf16 number. All that is not a float has to be equal.
Error compare(const Value &got, const Value &expected);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_VALUE_H
