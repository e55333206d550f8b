// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors of a module's signature in host memory: random tensors and
// comparison.
#include "Tensors.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace adze::verify {

int64_t HostTensor::getNumElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

DLTensor HostTensor::view() {
  return {bytes.data(),
          {kDLCPU, 0},
          int32_t(dims.size()),
          dtype,
          dims.data(),
          nullptr,
          0};
}

bool isFloat(DLDataType dtype) {
  return dtype.code == kDLFloat || dtype.code == kDLBfloat;
}

static const llvm::fltSemantics &getSemantics(DLDataType dtype) {
  if (dtype.code == kDLBfloat)
    return llvm::APFloat::BFloat();
  return dtype.bits == 16   ? llvm::APFloat::IEEEhalf()
         : dtype.bits == 32 ? llvm::APFloat::IEEEsingle()
                            : llvm::APFloat::IEEEdouble();
}

double getNumber(const char *bytes, DLDataType dtype, int64_t index) {
  uint64_t bits = 0;
  size_t size = dtype.bits / 8;
  std::memcpy(&bits, bytes + size_t(index) * size, size);
  llvm::APFloat value(getSemantics(dtype), llvm::APInt(dtype.bits, bits));
  bool inexact;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  return value.convertToDouble();
}

static void putNumber(char *bytes, DLDataType dtype, int64_t index,
                      double number) {
  llvm::APFloat value(number);
  bool inexact;
  value.convert(getSemantics(dtype), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  size_t size = dtype.bits / 8;
  std::memcpy(bytes + size_t(index) * size, &bits, size);
}

/// Draws a normal number by the Box-Muller transform, which gives the same
/// numbers with any standard library.
static double makeNormal(std::mt19937_64 &random) {
  auto uniform = [&] { return (double(random() >> 11) + 0.5) / 0x1p53; };
  double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(6.283185307179586 * uniform());
}

/// Returns the size nearest to `wanted` that the range allows.
static int64_t fit(int64_t wanted, const adze_range &range) {
  int64_t step = std::max<int64_t>(range.multiple_of, 1);
  int64_t size = std::max<int64_t>(wanted, range.min);
  if (range.max >= 0)
    size = std::min(size, range.max);
  int64_t below = size / step * step;
  return below >= range.min ? below : below + step;
}

HostTensor makeRandom(const adze_value_info &info, int64_t dynamicDim,
                      std::mt19937_64 &random) {
  llvm::SmallVector<int64_t> dims;
  for (int32_t d = 0; d < info.rank; ++d)
    dims.push_back(info.dims[d] >= 0 ? info.dims[d]
                                     : fit(dynamicDim, info.ranges[d]));
  return makeRandom(info.dtype, dims, random);
}

HostTensor makeRandom(DLDataType dtype, llvm::ArrayRef<int64_t> dims,
                      std::mt19937_64 &random) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.dims.assign(dims.begin(), dims.end());
  int64_t count = tensor.getNumElements();
  tensor.bytes.resize((size_t(count) * dtype.bits + 7) / 8);
  size_t size = dtype.bits / 8;
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(dtype))
      putNumber(tensor.bytes.data(), dtype, i, makeNormal(random));
    else if (size)
      tensor.bytes[size_t(i) * size] = char(random() & 1);
  }
  return tensor;
}

/// Returns NumPy's name of the type; empty if it has none.
static std::string getNpyType(DLDataType dtype) {
  std::string bytes = std::to_string(dtype.bits / 8);
  if (dtype.bits % 8 != 0)
    return "";
  switch (dtype.code) {
  case kDLBool:
    return "|b1";
  case kDLInt:
    return "<i" + bytes;
  case kDLUInt:
    return "<u" + bytes;
  case kDLFloat:
    return "<f" + bytes;
  default:
    return "";
  }
}

std::string writeTensor(const HostTensor &tensor, const std::string &folder,
                        std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::string type = getNpyType(tensor.dtype);
  std::string path = folder + "/" + name + (type.empty() ? ".bin" : ".npy");
  std::error_code ec;
  llvm::raw_fd_ostream os(path, ec);
  if (!type.empty()) {
    std::string head =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
    for (int64_t dim : tensor.dims)
      head += std::to_string(dim) + ",";
    head += "), }";
    // The magic number, version, length, and header text are padded to a
    // multiple of 64 bytes.
    head.resize(llvm::alignTo(head.size() + 11, 64) - 11, ' ');
    head += '\n';
    os << llvm::StringRef("\x93NUMPY\x01\0", 8) << char(head.size() & 255)
       << char(head.size() >> 8) << head;
  }
  os.write(tensor.bytes.data(), tensor.bytes.size());
  return path;
}

/// Returns the permitted difference relative to the range of all values: for
/// f32, the bound for -O0 against other implementations; for narrower types, a
/// few units in the last place.
static double getTolerance(DLDataType dtype) {
  if (dtype.code == kDLBfloat)
    return 0x1p-5;
  return dtype.bits == 16 ? 0x1p-8 : dtype.bits == 32 ? 1e-4 : 1e-10;
}

/// Returns an element of a float or 8-bit integer tensor.
static double getValue(const char *bytes, DLDataType dtype, int64_t index) {
  if (isFloat(dtype))
    return getNumber(bytes, dtype, index);
  return dtype.code == kDLInt ? double(static_cast<int8_t>(bytes[index]))
                              : double(static_cast<uint8_t>(bytes[index]));
}

static std::string compareNumbers(const char *got, const char *expected,
                                  DLDataType dtype, int64_t count,
                                  bool isQuantized) {
  double least = INFINITY, greatest = -INFINITY, worst = 0, sum = 0;
  int64_t worstAt = -1;
  for (int64_t i = 0; i < count; ++i) {
    double a = getValue(got, dtype, i), b = getValue(expected, dtype, i);
    bool isSame = std::isnan(b) ? std::isnan(a) : a == b;
    if (!isSame && (!std::isfinite(a) || !std::isfinite(b)))
      return "element " + std::to_string(i) + ": expected " +
             std::to_string(b) + ", but got " + std::to_string(a);
    if (!std::isfinite(b))
      continue;
    least = std::min(least, b);
    greatest = std::max(greatest, b);
    sum += std::fabs(a - b);
    if (worstAt < 0 || std::fabs(a - b) > worst) {
      worst = std::fabs(a - b);
      worstAt = i;
    }
  }
  // If all values are nearly equal, the range is a hundredth of their size.
  double range = std::max(greatest - least, std::fabs(greatest) * 1e-2);
  if (!isFloat(dtype)) // one quantization step is always permitted
    range = std::max(range, 16.0);
  constexpr double mostOfSteps = 0.1, meanOfSteps = 0.01;
  bool isNear = isQuantized ? worst <= mostOfSteps * range &&
                                  sum <= meanOfSteps * range * double(count)
                            : worst <= getTolerance(dtype) * range;
  if (worstAt < 0 || isNear)
    return "";
  std::string text;
  llvm::raw_string_ostream(text)
      << "element " << worstAt << ": expected "
      << getValue(expected, dtype, worstAt) << ", but got "
      << getValue(got, dtype, worstAt) << ", a difference of "
      << llvm::format("%.2g", worst / range) << " of the range";
  return text;
}

std::string compare(const DLTensor &got, const DLTensor &expected,
                    bool isQuantized) {
  int64_t count = 1;
  for (int32_t d = 0; d < expected.ndim; ++d) {
    if (got.shape[d] != expected.shape[d])
      return "dim " + std::to_string(d) + ": expected " +
             std::to_string(expected.shape[d]) + ", but got " +
             std::to_string(got.shape[d]);
    count *= expected.shape[d];
  }
  auto data = [](const DLTensor &tensor) {
    return static_cast<const char *>(tensor.data) + tensor.byte_offset;
  };
  bool isByte = expected.dtype.bits == 8 && (expected.dtype.code == kDLInt ||
                                             expected.dtype.code == kDLUInt);
  if (isFloat(expected.dtype) || (isQuantized && isByte))
    return compareNumbers(data(got), data(expected), expected.dtype, count,
                          isQuantized);
  size_t bytes = (size_t(count) * expected.dtype.bits + 7) / 8;
  for (size_t i = 0; i < bytes; ++i)
    if (data(got)[i] != data(expected)[i])
      return "byte " + std::to_string(i) + ": expected " +
             std::to_string(int(data(expected)[i])) + ", but got " +
             std::to_string(int(data(got)[i]));
  return "";
}

} // namespace adze::verify
