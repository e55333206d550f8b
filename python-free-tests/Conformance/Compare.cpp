// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares ONNX values by the rules of ONNX's own runner.
#include "Compare.h"

namespace conformance {

static Error compareTensors(const Tensor &got, const Tensor &expected) {
  adze::run::Tolerance tolerance{1e-3, 1e-7, {}};
  if (expected.dtype.code == kDLBfloat)
    tolerance.relative = 0x1p-6;
  std::string summary;
  return adze::run::compare(got, expected, tolerance, summary);
}

Error compare(const Value &got, const Value &expected) {
  return adze::run::compare(got, expected, compareTensors);
}

} // namespace conformance
