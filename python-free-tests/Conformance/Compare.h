// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares ONNX values by the rules of ONNX's own runner.
#ifndef ADZE_TESTS_CONFORMANCE_COMPARE_H
#define ADZE_TESTS_CONFORMANCE_COMPARE_H

#include "Value.h"

namespace conformance {

using adze::run::Error;
using adze::run::take;
using adze::run::Tensor;
using adze::run::Value;

/// The tolerances of ONNX's own runner: 1e-3 of the expected number plus 1e-7,
/// two ulps for bf16. All other values must be equal.
Error compare(const Value &got, const Value &expected);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_COMPARE_H
