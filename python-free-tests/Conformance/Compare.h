// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX values compared as ONNX's own runner does.
#ifndef ADZE_TESTS_CONFORMANCE_COMPARE_H
#define ADZE_TESTS_CONFORMANCE_COMPARE_H

#include "Value.h"

namespace conformance {

using adze::run::Error;
using adze::run::take;
using adze::run::Tensor;
using adze::run::Value;

/// What ONNX's own runner allows: 1e-3 of the expected number and 1e-7, two
/// ulps of a bf16 number. All that is not a float has to be equal.
Error compare(const Value &got, const Value &expected);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_COMPARE_H
