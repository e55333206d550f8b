// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in the memory of arun, and the files they come from and go to.

#ifndef ADZE_TOOLS_RUN_TENSOR_H
#define ADZE_TOOLS_RUN_TENSOR_H

#include "adze.h"

#include <optional>
#include <string>
#include <vector>

namespace adze::run {

/// What went wrong, for the user; empty: nothing did.
using Error = std::string;

/// Returns the error of an expression from the function around it, if any.
#define RUN_TRY(expression)                                                    \
  if (Error runTryError = (expression); !runTryError.empty())                  \
  return runTryError

/// The message of a status, which is freed; empty for success.
Error take(adze_status status);

/// Memory where vectors may be written by non-temporal stores; large arrays lie
/// on huge pages where the system gives them, as numpy's do.
void *allocateBytes(size_t bytes);
void freeBytes(void *memory, size_t bytes);

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(size_t n) {
    return static_cast<T *>(allocateBytes(n * sizeof(T)));
  }
  void deallocate(T *memory, size_t n) { freeBytes(memory, n * sizeof(T)); }
  template <typename U>
  bool operator==(const AlignedAllocator<U> &) const {
    return true;
  }
  template <typename U>
  bool operator!=(const AlignedAllocator<U> &) const {
    return false;
  }
};
using Bytes = std::vector<char, AlignedAllocator<char>>;

/// A dense row-major tensor that owns its bytes. A type of less than a byte is
/// packed, low bits first.
struct Tensor {
  DLDataType dtype{};
  std::vector<int64_t> dims;
  Bytes bytes;
  /// The file gives the width of an element but not its meaning (raw bytes,
  /// numpy's void types): it takes the type that the module wants.
  bool untyped = false;

  int64_t elements() const;
  /// Makes room for the elements.
  void resize();
  /// Element `index` of a floating-point type as a number; nothing for types
  /// that are compared by their bits.
  std::optional<double> number(int64_t index) const;
  bool isFloat() const;
  std::string element(int64_t index) const;
  DLTensor view();
};

/// No dim is negative, and the product is far from overflowing.
bool areSaneDims(const std::vector<int64_t> &dims);
std::string typeName(DLDataType dtype);
std::string shapeText(const std::vector<int64_t> &dims);
/// "1x3x224x224"; nothing if it is not of that form. "" is a scalar's.
std::optional<std::vector<int64_t>> parseShape(const std::string &text);

/// Rounds to the nearest, ties to even.
uint16_t toHalf(double value);
uint16_t toBfloat(double value);

/// Fills `tensor` with what `dtype` calls for: standard normal numbers,
/// integers in [0, ids), truth values. The same seed gives the same bits.
Error fillRandom(Tensor &tensor, uint64_t seed, int64_t ids);

Error readBytes(const std::string &path, Bytes &bytes);

Error readNpy(const Bytes &file, Tensor &tensor);
Error writeNpy(const Tensor &tensor, Bytes &file);

/// An ONNX TensorProto; `name` may stay empty.
Error readTensorProto(const Bytes &file, Tensor &tensor, std::string &name);
Error writeTensorProto(const Tensor &tensor, const std::string &name,
                       Bytes &file);

/// By the path's ending: .npy, .pb, or raw bytes in .bin, which get `dims`.
Error readTensor(const std::string &path, const std::vector<int64_t> &dims,
                 Tensor &tensor, std::string &name);

struct Tolerance {
  double relative = 1e-3, absolute = 1e-5;
  /// Of the expected tensor's range (greatest - least); takes the place of
  /// both others.
  std::optional<double> ofRange;
};

/// Empty if they agree; else what differs most and where. Integers and truth
/// values must be equal, and NaNs and infinities in the same places.
Error compare(const Tensor &got, const Tensor &expected,
              const Tolerance &tolerance, std::string &summary);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_TENSOR_H
