// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts the values and indices of a sparse tensor to a dense one. It does
// not rely on the ONNX checker, which trusts the dims for the number of
// indices.
#include "Sparse.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace adze::importer;

/// The limit of the dense bytes of all sparse tensors of a model: a small file
/// must not allocate any amount of memory.
static constexpr uint64_t kMaxDense = uint64_t(1) << 30;

static constexpr int kInt64 = 7; // TensorProto.DataType

/// Returns the bytes of an element, or 0 for packed elements and strings.
static uint64_t getElementBytes(int dataType) {
  switch (dataType) {
  case 2:  // uint8
  case 3:  // int8
  case 9:  // bool
  case 17: // f8E4M3FN
  case 18: // f8E4M3FNUZ
  case 19: // f8E5M2
  case 20: // f8E5M2FNUZ
  case 24: // f8E8M0
    return 1;
  case 4:  // uint16
  case 5:  // int16
  case 10: // f16
  case 16: // bf16
    return 2;
  case 1:  // f32
  case 6:  // int32
  case 12: // uint32
    return 4;
  case 7:  // int64
  case 11: // f64
  case 13: // uint64
    return 8;
  default:
    return 0;
  }
}

static std::string print(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + "]";
}

/// Returns the number of elements, or sets `problem`.
static uint64_t countElements(llvm::ArrayRef<int64_t> dims, uint64_t limit,
                              std::string &problem) {
  uint64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 1)
      problem = "expected dims of a sparse tensor >= 1, but got " + print(dims);
    else if (uint64_t(dim) > limit / count) {
      problem = "expected sparse tensors of at most " +
                std::to_string(kMaxDense) +
                " bytes, all of the model together, when they are dense, but "
                "got dims " +
                print(dims);
      return 0;
    } else
      count *= uint64_t(dim);
  return problem.empty() ? count : 0;
}

/// Checks the consistency of the parts, and returns the error.
static std::string check(const SparseData &sparse, uint64_t elementBytes) {
  const TensorData &values = sparse.values, &indices = sparse.indices;
  for (const TensorData *part : {&values, &indices}) {
    if (!part->problem.empty())
      return part->problem;
    if (part->storage != TensorData::Storage::Inline)
      return "expected a sparse tensor in the model's file, but got external "
             "data";
  }
  if (sparse.dims.empty())
    return "expected a sparse tensor of at least 1 dim";
  if (elementBytes == 0)
    return "expected a sparse tensor of numbers of at least 8 bits, but got "
           "data_type " +
           std::to_string(values.dataType);
  if (values.dims.size() != 1 || values.dims[0] < 0 ||
      values.bytes.size() / elementBytes != uint64_t(values.dims[0]) ||
      values.bytes.size() % elementBytes != 0)
    return "expected the values of a sparse tensor as a vector, but got dims " +
           print(values.dims) + " and " + std::to_string(values.bytes.size()) +
           " bytes";
  int64_t count = values.dims[0];
  uint64_t width = indices.dims.size() == 2 ? sparse.dims.size() : 1;
  std::vector<int64_t> linear = {count},
                       coordinates = {count, int64_t(sparse.dims.size())};
  if (count == 0 && indices.bytes.empty())
    return {};
  if (indices.dataType != kInt64 ||
      (indices.dims != linear && indices.dims != coordinates) ||
      indices.bytes.size() != uint64_t(count) * width * sizeof(int64_t))
    return "expected int64 indices of " + print(linear) + " or " +
           print(coordinates) + ", but got " + print(indices.dims);
  return {};
}

/// Returns the position of a value in the dense tensor, or nothing if its index
/// is out of range.
static std::optional<uint64_t> findPlace(llvm::ArrayRef<int64_t> index,
                                         llvm::ArrayRef<int64_t> dims,
                                         uint64_t count) {
  if (index.size() == 1 && dims.size() != 1)
    return index[0] >= 0 && uint64_t(index[0]) < count
               ? std::make_optional(uint64_t(index[0]))
               : std::nullopt;
  uint64_t place = 0;
  for (auto [at, dim] : llvm::zip_equal(index, dims)) {
    if (at < 0 || at >= dim)
      return std::nullopt;
    place = place * uint64_t(dim) + uint64_t(at);
  }
  return place;
}

TensorData adze::importer::makeDense(const SparseData &sparse, uint64_t &used) {
  TensorData dense;
  dense.name = sparse.values.name;
  dense.dataType = sparse.values.dataType;
  dense.dims = sparse.dims;
  uint64_t elementBytes = getElementBytes(dense.dataType);
  dense.problem = check(sparse, elementBytes);
  if (!dense.problem.empty())
    return dense;
  uint64_t count = countElements(dense.dims, (kMaxDense - used) / elementBytes,
                                 dense.problem);
  if (!dense.problem.empty())
    return dense;
  std::string bytes(count * elementBytes, '\0');
  std::vector<bool> isSet(count);
  uint64_t stored = uint64_t(sparse.values.dims[0]);
  size_t width = sparse.indices.dims.size() == 2 ? dense.dims.size() : 1;
  std::vector<int64_t> index(width);
  for (uint64_t i = 0; i < stored; ++i) {
    memcpy(index.data(), sparse.indices.bytes.data() + i * width * 8,
           width * 8);
    std::optional<uint64_t> place = findPlace(index, dense.dims, count);
    if (!place || isSet[*place]) {
      dense.problem = "expected indices of a sparse tensor of dims " +
                      print(dense.dims) + ", each once, but got " +
                      print(index);
      return dense;
    }
    isSet[*place] = true;
    memcpy(bytes.data() + *place * elementBytes,
           sparse.values.bytes.data() + i * elementBytes, elementBytes);
  }
  used += bytes.size();
  dense.bytes = std::move(bytes);
  dense.size = dense.bytes.size();
  dense.stored = stored;
  return dense;
}
