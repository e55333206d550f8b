// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in the memory of arun, and their files.

#ifndef ADZE_TOOLS_RUN_TENSOR_H
#define ADZE_TOOLS_RUN_TENSOR_H

#include "adze.h"

#include <optional>
#include <string>
#include <vector>

namespace adze::run {

/// A message for the user; empty on success.
using Error = std::string;

/// Returns the error of an expression from the enclosing function, if there is
/// one.
#define RUN_TRY(expression)                                                    \
  if (Error runTryError = (expression); !runTryError.empty())                  \
  return runTryError

/// Returns the message of a status and frees it; empty on success.
Error take(adze_status status);

/// Allocates memory that is aligned for non-temporal vector stores; large
/// arrays use huge pages if the system provides them, as numpy's do.
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

/// A dense row-major tensor that owns its data. Types of less than a byte are
/// packed, low bits first.
struct Tensor {
  DLDataType dtype{};
  std::vector<int64_t> dims;
  Bytes bytes;
  /// The file specifies the width of elements but not their type (raw bytes,
  /// numpy's void types): the tensor gets the type that the module requires.
  bool untyped = false;
  /// The file specifies no shape either: an expected tensor gets that of the
  /// output.
  bool unshaped = false;

  int64_t elements() const;
  /// Allocates the elements.
  void resize();
  /// Returns element `index` of a floating-point type as a number; none for
  /// types that are compared by their bits.
  std::optional<double> number(int64_t index) const;
  bool isFloat() const;
  std::string element(int64_t index) const;
  DLTensor view();
};

/// Returns true if no dim is negative and the product cannot overflow.
bool areSaneDims(const std::vector<int64_t> &dims);
std::string typeName(DLDataType dtype);
std::string shapeText(const std::vector<int64_t> &dims);
/// Parses "1x3x224x224"; none for another form. "" is the shape of a scalar.
std::optional<std::vector<int64_t>> parseShape(const std::string &text);

/// Rounds to the nearest, ties to even.
uint16_t toHalf(double value);
uint16_t toBfloat(double value);

/// Fills `tensor` according to its `dtype`: standard normal numbers, integers
/// in [0, ids), or bools. Equal seeds give equal bits.
Error fillRandom(Tensor &tensor, uint64_t seed, int64_t ids);

Error readBytes(const std::string &path, Bytes &bytes);

Error readNpy(const Bytes &file, Tensor &tensor);
Error writeNpy(const Tensor &tensor, Bytes &file);

/// Reads an ONNX TensorProto; `name` may be empty.
Error readTensorProto(const Bytes &file, Tensor &tensor, std::string &name);
Error writeTensorProto(const Tensor &tensor, const std::string &name,
                       Bytes &file);

/// Reads by extension: .npy, .pb, or raw bytes in .bin, which get `dims`.
Error readTensor(const std::string &path, const std::vector<int64_t> &dims,
                 Tensor &tensor, std::string &name);

struct Tolerance {
  double relative = 1e-3, absolute = 1e-5;
  /// A bound relative to the range (max - min) of the expected tensor, which
  /// replaces the other two.
  std::optional<double> ofRange;
};

/// Returns a description of the largest difference, or an empty string.
/// Integers and bools must be equal, and NaNs and infinities at the same
/// positions.
Error compare(const Tensor &got, const Tensor &expected,
              const Tolerance &tolerance, std::string &summary);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_TENSOR_H
