// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// numpy's file format: a magic, a header that is a Python dictionary, and the
// data.

#include "Tensor.h"

#include <cstdlib>
#include <cstring>

namespace adze::run {

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr size_t kMagicSize = sizeof(kMagic) - 1;

static std::optional<DLDataType> parseType(const std::string &descr,
                                           bool &untyped) {
  if (descr.size() < 3 || (descr[0] != '<' && descr[0] != '|'))
    return std::nullopt;
  int size = std::atoi(descr.c_str() + 2);
  if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16)
    return std::nullopt;
  auto bits = static_cast<uint8_t>(size * 8);
  untyped = descr[1] == 'V';
  switch (descr[1]) {
  case 'f':
    return DLDataType{kDLFloat, bits, 1};
  case 'i':
    return DLDataType{kDLInt, bits, 1};
  case 'u':
    return DLDataType{kDLUInt, bits, 1};
  case 'b':
    return DLDataType{kDLBool, 8, 1};
  case 'c':
    return DLDataType{kDLComplex, bits, 1};
  case 'V':
    return DLDataType{kDLOpaqueHandle, bits, 1};
  default:
    return std::nullopt;
  }
}

/// Returns the text after `'key':`, from the first character other than a
/// space.
static const char *valueOf(const std::string &header, const char *key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string::npos)
    return nullptr;
  at = header.find(':', at);
  if (at == std::string::npos)
    return nullptr;
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? nullptr : header.c_str() + at;
}

static bool parseDims(const char *at, std::vector<int64_t> &dims) {
  if (*at++ != '(')
    return false;
  while (*at && *at != ')') {
    char *end;
    long long dim = std::strtoll(at, &end, 10);
    if (end == at || dim < 0)
      return false;
    dims.push_back(dim);
    at = end + std::strspn(end, " ,");
  }
  return *at == ')';
}

static Error parseHeader(const std::string &header, Tensor &tensor,
                         bool &columnMajor) {
  const char *descr = valueOf(header, "descr");
  const char *order = valueOf(header, "fortran_order");
  const char *shape = valueOf(header, "shape");
  if (!descr || *descr != '\'' || !order || !shape)
    return "damaged npy header";
  const char *end = std::strchr(descr + 1, '\'');
  if (!end || !parseDims(shape, tensor.dims) || !areSaneDims(tensor.dims))
    return "damaged npy header";
  std::string type(descr + 1, end);
  std::optional<DLDataType> dtype = parseType(type, tensor.untyped);
  if (!dtype)
    return "unsupported npy type '" + type + "'";
  tensor.dtype = *dtype;
  columnMajor = !std::strncmp(order, "True", 4);
  return {};
}

static void toRowMajor(Tensor &tensor) {
  size_t size = tensor.dtype.bits / 8, rank = tensor.dims.size();
  Bytes rows(tensor.bytes.size());
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    int64_t at = 0;
    for (size_t d = rank; d-- > 0;)
      at = at * tensor.dims[d] + index[d];
    std::memcpy(&rows[static_cast<size_t>(i) * size],
                &tensor.bytes[static_cast<size_t>(at) * size], size);
    for (size_t d = rank; d-- > 0 && ++index[d] == tensor.dims[d];)
      index[d] = 0;
  }
  tensor.bytes = std::move(rows);
}

Error readNpy(const Bytes &file, Tensor &tensor) {
  if (file.size() < kMagicSize + 6 ||
      std::memcmp(file.data(), kMagic, kMagicSize))
    return "not an npy file";
  auto byte = [&](size_t at) -> size_t {
    return static_cast<unsigned char>(file[at]);
  };
  bool wide = byte(kMagicSize) >= 2;
  size_t at = kMagicSize + 2;
  size_t size = byte(at) | byte(at + 1) << 8;
  if (wide)
    size |= byte(at + 2) << 16 | byte(at + 3) << 24;
  at += wide ? 4 : 2;
  if (size > file.size() - at)
    return "truncated npy header";
  bool columnMajor = false;
  std::string header(file.data() + at, size);
  if (Error error = parseHeader(header, tensor, columnMajor); !error.empty())
    return error;
  tensor.bytes.assign(file.begin() + static_cast<ptrdiff_t>(at + size),
                      file.end());
  size_t expected =
      static_cast<size_t>(tensor.elements()) * (tensor.dtype.bits / 8);
  if (tensor.bytes.size() != expected)
    return "expected " + std::to_string(expected) + " bytes of data, but got " +
           std::to_string(tensor.bytes.size());
  if (columnMajor)
    toRowMajor(tensor);
  return {};
}

static std::string descrOf(DLDataType dtype) {
  std::string size = std::to_string((dtype.bits + 7) / 8);
  if (dtype.bits < 8)
    return "";
  switch (dtype.code) {
  case kDLFloat:
    return "<f" + size;
  case kDLInt:
    return (dtype.bits == 8 ? "|i" : "<i") + size;
  case kDLUInt:
    return (dtype.bits == 8 ? "|u" : "<u") + size;
  case kDLBool:
    return "|b1";
  case kDLComplex:
    return "<c" + size;
  default:
    return "|V" + size;
  }
}

Error writeNpy(const Tensor &tensor, Bytes &file) {
  std::string descr = descrOf(tensor.dtype);
  if (descr.empty())
    return "npy has no type for " + typeName(tensor.dtype) +
           ": use --format pb";
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, " + "'shape': (";
  for (int64_t dim : tensor.dims)
    header += std::to_string(dim) + ", ";
  header += "), }";
  // The data begins at a multiple of 64, after a newline.
  size_t size = (kMagicSize + 4 + header.size() + 1 + 63) / 64 * 64;
  header.append(size - kMagicSize - 4 - header.size() - 1, ' ');
  header += '\n';
  file.assign(kMagic, kMagic + kMagicSize);
  file.push_back(1);
  file.push_back(0);
  file.push_back(static_cast<char>(header.size() & 255));
  file.push_back(static_cast<char>(header.size() >> 8));
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), tensor.bytes.begin(), tensor.bytes.end());
  return {};
}

} // namespace adze::run
