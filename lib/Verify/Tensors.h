// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors of a module's signature in host memory: random tensors and
// comparison.
#ifndef ADZE_LIB_VERIFY_TENSORS_H
#define ADZE_LIB_VERIFY_TENSORS_H

#include "adze.h"
#include "llvm/ADT/SmallVector.h"
#include <random>
#include <string>
#include <vector>

namespace adze::verify {

struct HostTensor {
  DLDataType dtype;
  llvm::SmallVector<int64_t> dims;
  std::vector<char> bytes;

  int64_t getNumElements() const;
  DLTensor view();
};

bool isFloat(DLDataType dtype);
/// Returns an element of a floating-point tensor.
double getNumber(const char *bytes, DLDataType dtype, int64_t index);

/// Returns a tensor of normally distributed floats; integers and bools are 0 or
/// 1, which are valid for every index and mask.
HostTensor makeRandom(DLDataType dtype, llvm::ArrayRef<int64_t> dims,
                      std::mt19937_64 &random);
/// Returns such a tensor for an input; dynamic dims are set to the allowed
/// value nearest to `dynamicDim`.
HostTensor makeRandom(const adze_value_info &info, int64_t dynamicDim,
                      std::mt19937_64 &random);

/// Writes the tensor to a file in `folder`: NAME.npy, or NAME.bin where NumPy
/// has no such type; each '/' of the name is '_'. Returns the path.
std::string writeTensor(const HostTensor &tensor, const std::string &folder,
                        std::string name);

/// Returns why `got` differs from `expected` by more than rounding; empty if it
/// does not. If the model rounds to 8-bit integers (`isQuantized`), a rounding
/// may take the neighbouring step, and later values differ by more: then 8-bit
/// integers and floats may differ by a tenth of their range, and by a hundredth
/// on average.
std::string compare(const DLTensor &got, const DLTensor &expected,
                    bool isQuantized);

} // namespace adze::verify

#endif // ADZE_LIB_VERIFY_TENSORS_H
