// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors: elements as numbers, random contents, files by extension.

#include "Tensor.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace adze::run {

static std::align_val_t getAlignment(size_t bytes) {
  constexpr std::align_val_t line{64}, hugePage{size_t(2) << 20};
  return bytes < 2 * size_t(hugePage) ? line : hugePage;
}

void *allocateBytes(size_t bytes) {
  std::align_val_t alignment = getAlignment(bytes);
  void *memory = ::operator new(bytes, alignment);
  if (alignment != getAlignment(0))
    madvise(memory, bytes / size_t(alignment) * size_t(alignment),
            MADV_HUGEPAGE);
  return memory;
}

void freeBytes(void *memory, size_t bytes) {
  ::operator delete(memory, getAlignment(bytes));
}

Error take(adze_status status) {
  if (!status)
    return {};
  Error error = adze_status_message(status);
  adze_status_free(status);
  return error.empty() ? "unknown error" : error;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

void Tensor::resize() {
  bytes.assign((static_cast<size_t>(elements()) * dtype.bits + 7) / 8, 0);
}

DLTensor Tensor::view() {
  return DLTensor{bytes.data(),
                  {kDLCPU, 0},
                  static_cast<int32_t>(dims.size()),
                  dtype,
                  dims.data(),
                  nullptr,
                  0};
}

bool Tensor::isFloat() const {
  return dtype.code == kDLFloat ||
         (dtype.code == kDLBfloat && dtype.bits == 16);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

uint16_t toHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520)
    return sign | 0x7c00;
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  int step = exponent - 11 > -24 ? exponent - 11 : -24;
  // nearbyint rounds ties to even, and a carry increments the exponent.
  auto units =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  return static_cast<uint16_t>(sign + units +
                               (static_cast<uint32_t>(step + 24) << 10));
}

uint16_t toBfloat(double value) {
  auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T>
static T load(const Bytes &bytes, int64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(at) * sizeof(T),
              sizeof(T));
  return value;
}

std::optional<double> Tensor::number(int64_t index) const {
  if (dtype.code == kDLFloat && dtype.bits == 32)
    return load<float>(bytes, index);
  if (dtype.code == kDLFloat && dtype.bits == 64)
    return load<double>(bytes, index);
  if (dtype.code == kDLFloat && dtype.bits == 16)
    return fromHalf(load<uint16_t>(bytes, index));
  if (dtype.code == kDLBfloat && dtype.bits == 16) {
    uint32_t bits = static_cast<uint32_t>(load<uint16_t>(bytes, index)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  return std::nullopt;
}

/// Returns the bits of an integer element, sign-extended for signed types.
static int64_t integerAt(const Tensor &tensor, int64_t index) {
  unsigned bits = tensor.dtype.bits;
  uint64_t value = 0;
  if (bits < 8) {
    auto at = static_cast<size_t>(index) * bits;
    value = static_cast<unsigned char>(tensor.bytes[at / 8]) >> at % 8;
    value &= (1u << bits) - 1;
  } else {
    size_t size = bits / 8 < sizeof(value) ? bits / 8 : sizeof(value);
    std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(index) * size,
                size);
  }
  if (tensor.dtype.code == kDLInt && bits < 64 && value >> (bits - 1) & 1)
    value |= ~uint64_t(0) << bits;
  return static_cast<int64_t>(value);
}

std::string Tensor::element(int64_t index) const {
  char text[48];
  if (std::optional<double> value = number(index))
    std::snprintf(text, sizeof(text), "%.9g", *value);
  else if (dtype.code == kDLUInt)
    std::snprintf(text, sizeof(text), "%llu",
                  static_cast<unsigned long long>(integerAt(*this, index)));
  else if (dtype.code == kDLInt || dtype.code == kDLBool)
    std::snprintf(text, sizeof(text), "%lld",
                  static_cast<long long>(integerAt(*this, index)));
  else
    std::snprintf(text, sizeof(text), "0x%llx",
                  static_cast<unsigned long long>(integerAt(*this, index)));
  return text;
}

std::string typeName(DLDataType dtype) {
  static const char *const prefixes[] = {"i",  "ui",      "f",   "handle",
                                         "bf", "complex", "bool"};
  if (dtype.code == kDLBool)
    return "bool";
  if (dtype.code < kDLBool)
    return prefixes[dtype.code] + std::to_string(dtype.bits);
  return "dtype " + std::to_string(dtype.code) + "/" +
         std::to_string(dtype.bits);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool areSaneDims(const std::vector<int64_t> &dims) {
  int64_t elements = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements) ||
        elements > int64_t(1) << 48)
      return false;
  return true;
}

std::string shapeText(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

std::optional<std::vector<int64_t>> parseShape(const std::string &text) {
  std::vector<int64_t> dims;
  const char *at = text.c_str();
  while (*at) {
    char *end;
    errno = 0;
    long long dim = std::strtoll(at, &end, 10);
    if (end == at || dim < 0 || errno || (*end && *end != 'x') ||
        (*end == 'x' && !end[1]))
      return std::nullopt;
    dims.push_back(dim);
    at = *end ? end + 1 : end;
  }
  if (!areSaneDims(dims))
    return std::nullopt;
  return dims;
}

//===----------------------------------------------------------------------===//
// Random contents
//===----------------------------------------------------------------------===//

namespace {
/// splitmix64 and Box-Muller give the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// Returns a number in (0, 1].
  double uniform() { return (static_cast<double>(next() >> 11) + 1) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

private:
  uint64_t state;
};
} // namespace

template <typename T>
static void store(Bytes &bytes, int64_t at, T value) {
  std::memcpy(bytes.data() + static_cast<size_t>(at) * sizeof(T), &value,
              sizeof(T));
}

static void storeNumber(Tensor &tensor, int64_t at, double value) {
  if (tensor.dtype.code == kDLBfloat)
    store<uint16_t>(tensor.bytes, at, toBfloat(value));
  else if (tensor.dtype.bits == 16)
    store<uint16_t>(tensor.bytes, at, toHalf(value));
  else if (tensor.dtype.bits == 32)
    store<float>(tensor.bytes, at, static_cast<float>(value));
  else
    store<double>(tensor.bytes, at, value);
}

static void storeInteger(Tensor &tensor, int64_t at, uint64_t value) {
  unsigned bits = tensor.dtype.bits;
  if (bits < 8) {
    auto bit = static_cast<size_t>(at) * bits;
    uint64_t mask = (1u << bits) - 1;
    tensor.bytes[bit / 8] =
        static_cast<char>(tensor.bytes[bit / 8] | (value & mask) << bit % 8);
    return;
  }
  std::memcpy(tensor.bytes.data() + static_cast<size_t>(at) * (bits / 8),
              &value, bits / 8);
}

Error fillRandom(Tensor &tensor, uint64_t seed, int64_t ids) {
  Random random(seed * 0x2545f4914f6cdd1du + 1);
  bool isBool = tensor.dtype.code == kDLBool;
  bool isInteger = tensor.dtype.code <= kDLUInt;
  if (!tensor.isFloat() && !isBool && !isInteger)
    return "no random numbers of type " + typeName(tensor.dtype);
  tensor.resize();
  uint64_t bound = isBool ? 2 : static_cast<uint64_t>(ids);
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    if (tensor.isFloat())
      storeNumber(tensor, i, random.normal());
    else
      storeInteger(tensor, i, random.next() % bound);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Error readBytes(const std::string &path, Bytes &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return path + ": " + std::strerror(errno);
  bytes.clear();
  char chunk[1 << 16];
  while (size_t got = std::fread(chunk, 1, sizeof(chunk), file))
    bytes.insert(bytes.end(), chunk, chunk + got);
  int code = std::ferror(file) ? errno : 0; // EISDIR for a directory
  std::fclose(file);
  return code ? path + ": " + std::strerror(code) : "";
}

static bool endsWith(const std::string &text, const char *end) {
  size_t length = std::strlen(end);
  return text.size() >= length &&
         !text.compare(text.size() - length, length, end);
}

Error readTensor(const std::string &path, const std::vector<int64_t> &dims,
                 Tensor &tensor, std::string &name) {
  Bytes file;
  if (Error error = readBytes(path, file); !error.empty())
    return error;
  Error error;
  if (endsWith(path, ".npy")) {
    error = readNpy(file, tensor);
  } else if (endsWith(path, ".pb")) {
    error = readTensorProto(file, tensor, name);
  } else if (endsWith(path, ".bin")) {
    tensor.untyped = tensor.unshaped = true;
    tensor.dims = dims;
    int64_t elements = tensor.elements();
    tensor.bytes = std::move(file);
    if (elements > 0)
      tensor.dtype = {kDLOpaqueHandle,
                      static_cast<uint8_t>(tensor.bytes.size() * 8 /
                                           static_cast<size_t>(elements)),
                      1};
  } else {
    error = "expected a file named .npy, .pb or .bin";
  }
  return error.empty() ? error : path + ": " + error;
}

} // namespace adze::run
