// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks tensors against their files, and converts their elements to
// attributes.
#include "Tensors.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Wire.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace adze;
using namespace adze::importer;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct DataTypeRow {
  int dataType;
  const char *name;
  enum Kind { Float, Signless, Signed, Unsigned, Special, Other } kind;
  unsigned bits;
};
// Rows of TensorProto.DataType.
constexpr DataTypeRow kDataTypes[] = {
    {1, "f32", DataTypeRow::Float, 32},
    {2, "ui8", DataTypeRow::Unsigned, 8},
    {3, "i8", DataTypeRow::Signless, 8},
    {4, "ui16", DataTypeRow::Unsigned, 16},
    {5, "i16", DataTypeRow::Signless, 16},
    {6, "i32", DataTypeRow::Signless, 32},
    {7, "i64", DataTypeRow::Signless, 64},
    {8, "string", DataTypeRow::Signed, 64},
    {9, "bool", DataTypeRow::Signless, 1},
    {10, "f16", DataTypeRow::Float, 16},
    {11, "f64", DataTypeRow::Float, 64},
    {12, "ui32", DataTypeRow::Unsigned, 32},
    {13, "ui64", DataTypeRow::Unsigned, 64},
    {14, "complex64", DataTypeRow::Other, 0},
    {15, "complex128", DataTypeRow::Other, 0},
    {16, "bf16", DataTypeRow::Special, 16},
    {17, "f8E4M3FN", DataTypeRow::Special, 8},
    {18, "f8E4M3FNUZ", DataTypeRow::Special, 8},
    {19, "f8E5M2", DataTypeRow::Special, 8},
    {20, "f8E5M2FNUZ", DataTypeRow::Special, 8},
    {21, "ui4", DataTypeRow::Unsigned, 4},
    {22, "i4", DataTypeRow::Signless, 4},
    {23, "f4E2M1", DataTypeRow::Special, 4},
    {24, "f8E8M0", DataTypeRow::Special, 8},
    {25, "ui2", DataTypeRow::Unsigned, 2},
    {26, "i2", DataTypeRow::Signless, 2},
    {27, "f6E2M3", DataTypeRow::Other, 0},
    {28, "f6E3M2", DataTypeRow::Other, 0},
};
} // namespace

static mlir::Type getSpecialType(mlir::MLIRContext *context, int dataType) {
  switch (dataType) {
  case 16:
    return mlir::BFloat16Type::get(context);
  case 17:
    return mlir::Float8E4M3FNType::get(context);
  case 18:
    return mlir::Float8E4M3FNUZType::get(context);
  case 19:
    return mlir::Float8E5M2Type::get(context);
  case 20:
    return mlir::Float8E5M2FNUZType::get(context);
  case 23:
    return mlir::Float4E2M1FNType::get(context);
  case 24:
    return mlir::Float8E8M0FNUType::get(context);
  default:
    return {};
  }
}

mlir::Type adze::importer::getElementType(mlir::MLIRContext *context,
                                          int dataType) {
  mlir::Builder builder(context);
  for (const DataTypeRow &row : kDataTypes) {
    if (row.dataType != dataType)
      continue;
    switch (row.kind) {
    case DataTypeRow::Float:
      return row.bits == 16   ? builder.getF16Type()
             : row.bits == 32 ? mlir::Type(builder.getF32Type())
                              : mlir::Type(builder.getF64Type());
    case DataTypeRow::Signless:
      return builder.getIntegerType(row.bits);
    case DataTypeRow::Signed:
      return mlir::IntegerType::get(context, row.bits,
                                    mlir::IntegerType::Signed);
    case DataTypeRow::Unsigned:
      return builder.getIntegerType(row.bits, /*isSigned=*/false);
    case DataTypeRow::Special:
      return getSpecialType(context, dataType);
    case DataTypeRow::Other:
      return {};
    }
  }
  return {};
}

int adze::importer::getDataType(mlir::Type elementType) {
  for (const DataTypeRow &row : kDataTypes)
    if (getElementType(elementType.getContext(), row.dataType) == elementType)
      return row.dataType;
  return 0;
}

uint32_t adze::importer::getSupportedTypes() {
  uint32_t types = 0;
  for (const DataTypeRow &row : kDataTypes)
    if (row.kind != DataTypeRow::Other)
      types |= uint32_t(1) << row.dataType;
  return types;
}

std::string adze::importer::describeDataType(int dataType) {
  for (const DataTypeRow &row : kDataTypes)
    if (row.dataType == dataType)
      return row.name;
  return "data_type " + std::to_string(dataType);
}

/// Returns the bits of an element in ONNX files: a bool is a byte, elements of
/// less than 8 bits share bytes, low bits first.
static uint64_t getElementBits(mlir::Type elementType) {
  return elementType.isInteger(1) ? 8 : elementType.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::unique_ptr<llvm::MemoryBuffer>
adze::importer::mapFile(llvm::StringRef path, std::string &error) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status)) {
    error = code.message();
    return nullptr;
  }
  // Reading a pipe or a device might not terminate.
  if (!llvm::sys::fs::is_regular_file(status)) {
    error = "not a regular file";
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (buffer)
    return std::move(*buffer);
  error = buffer.getError().message();
  return nullptr;
}

/// Resolves the location of external data to a file in the folder of the model;
/// on failure, `error` is the reason.
static std::string resolveLocation(llvm::StringRef modelPath,
                                   llvm::StringRef location,
                                   std::string &error) {
  error = "expected external data in the folder of the model, but got '" +
          location.str() + "'";
  if (path::is_absolute(location) || location.contains('\0') ||
      llvm::is_contained(
          llvm::make_range(path::begin(location), path::end(location)), ".."))
    return {};
  llvm::SmallString<128> spelled(path::parent_path(modelPath));
  llvm::SmallString<128> folder, resolved;
  path::append(spelled, location);
  if (llvm::sys::fs::real_path(
          path::has_parent_path(modelPath) ? path::parent_path(modelPath) : ".",
          folder))
    return {};
  if (std::error_code code = llvm::sys::fs::real_path(spelled, resolved)) {
    error = "expected the file '" + location.str() +
            "' of external data, but got: " + code.message();
    return {};
  }
  // Links inside of the folder are allowed, links out of it are not.
  llvm::StringRef inside = resolved;
  if (!inside.consume_front(folder) || !path::is_absolute(inside)) {
    error += ", which leads out of it";
    return {};
  }
  error.clear();
  return spelled.str().str();
}

const Tensors::External &Tensors::open(llvm::StringRef location) {
  auto [entry, isNew] = externals.try_emplace(location);
  External &external = entry->second;
  if (!isNew)
    return external;
  external.path = resolveLocation(path, location, external.error);
  if (!external.error.empty())
    return external;
  std::string reason;
  external.buffer = mapFile(external.path, reason);
  if (!external.buffer)
    external.error = "expected the file '" + location.str() +
                     "' of external data, but got: " + reason;
  return external;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Returns the type of a tensor; on failure, `error` is the reason.
static mlir::RankedTensorType getTensorType(mlir::MLIRContext *context,
                                            const TensorData &tensor,
                                            uint64_t &bytes,
                                            std::string &error) {
  mlir::Type elementType = getElementType(context, tensor.dataType);
  if (!elementType) {
    error = "expected an element type that Adze supports, but got " +
            describeDataType(tensor.dataType);
    return {};
  }
  uint64_t bits = getElementBits(elementType), elements = 1;
  uint64_t perByte = bits < 8 ? 8 / bits : 1, each = bits < 8 ? 1 : bits / 8;
  bool overflow = false;
  for (int64_t dim : tensor.dims) {
    if (dim < 0) {
      error = "expected dims >= 0, but got " + std::to_string(dim);
      return {};
    }
    // Empty tensors are valid, but their other dims have to be valid sizes,
    // too.
    overflow |=
        dim != 0 && elements > uint64_t(INT64_MAX) / each / uint64_t(dim);
    elements *= uint64_t(dim);
  }
  bytes = llvm::divideCeil(elements, perByte) * each;
  if (overflow) {
    error = "expected a tensor of less than 2^63 bytes";
    return {};
  }
  return mlir::RankedTensorType::get(tensor.dims, elementType);
}

/// Finds the elements, and returns an error.
std::string Tensors::find(const TensorData &tensor,
                          mlir::RankedTensorType &type, Source &source) {
  if (!tensor.problem.empty())
    return tensor.problem;
  std::string error;
  uint64_t bytes = 0;
  type = getTensorType(context, tensor, bytes, error);
  if (!type)
    return error;
  if (graph::isString(type.getElementType())) {
    if (tensor.strings.size() != uint64_t(type.getNumElements()))
      return "expected " + std::to_string(type.getNumElements()) +
             " strings, but got " + std::to_string(tensor.strings.size());
    return {};
  }
  if (tensor.storage == TensorData::Storage::Inline) {
    source.bytes = llvm::ArrayRef(tensor.bytes.data(), tensor.bytes.size());
  } else {
    llvm::ArrayRef<char> whole = file;
    llvm::StringRef name = path; // for the message
    source.file = contents;
    source.offset = tensor.offset;
    if (tensor.storage == TensorData::Storage::External) {
      const External &external = open(tensor.location);
      if (!external.error.empty())
        return external.error;
      whole = llvm::ArrayRef(external.buffer->getBufferStart(),
                             external.buffer->getBufferSize());
      source.file = external.path;
      name = external.path;
    }
    uint64_t size = tensor.size.value_or(bytes);
    if (tensor.offset > whole.size() || size > whole.size() - tensor.offset)
      return "expected " + std::to_string(size) + " bytes at " +
             std::to_string(tensor.offset) + " of '" +
             path::filename(name).str() + "', but it has " +
             std::to_string(whole.size());
    source.bytes = whole.slice(tensor.offset, size);
  }
  if (source.bytes.size() != bytes)
    return "expected " + std::to_string(bytes) + " bytes for " +
           mlir::debugString(type) + ", but got " +
           std::to_string(source.bytes.size());
  return {};
}

std::string Tensors::check(const TensorData &tensor) {
  mlir::RankedTensorType type;
  Source source;
  return find(tensor, type, source);
}

bool Tensors::areEqual(const TensorData &lhs, const TensorData &rhs) {
  mlir::RankedTensorType types[2];
  Source sources[2];
  return find(lhs, types[0], sources[0]).empty() &&
         find(rhs, types[1], sources[1]).empty() && types[0] == types[1] &&
         lhs.strings == rhs.strings && sources[0].bytes == sources[1].bytes;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static bool isSplat(llvm::ArrayRef<char> bytes, uint64_t elementBytes) {
  return bytes.size() > elementBytes &&
         memcmp(bytes.data(), bytes.data() + elementBytes,
                bytes.size() - elementBytes) == 0;
}

/// Uses all bytes, or those of one element for a splat.
mlir::ElementsAttr Tensors::getDense(mlir::RankedTensorType type,
                                     llvm::ArrayRef<char> bytes) {
  if (type.getNumElements() == 0)
    return mlir::DenseElementsAttr::get(type,
                                        llvm::ArrayRef<mlir::Attribute>());
  if (!type.getElementType().isInteger(1))
    return mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  llvm::SmallVector<bool> bools(
      llvm::map_range(bytes, [](char byte) { return byte != 0; }));
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(bools));
}

int64_t Tensors::intern(llvm::StringRef text) {
  auto [entry, isNew] = numbers.try_emplace(text, int64_t(strings.size()));
  if (isNew)
    strings.push_back(text.str());
  return entry->second;
}

mlir::ElementsAttr Tensors::get(const TensorData &tensor, std::string &error) {
  mlir::RankedTensorType type;
  Source source;
  error = find(tensor, type, source);
  if (!error.empty())
    return {};
  if (graph::isString(type.getElementType())) {
    auto numbers = llvm::map_to_vector(
        tensor.strings, [&](const std::string &text) { return intern(text); });
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef(numbers));
  }
  if (graph::isPacked(type.getElementType()) &&
      source.bytes.size() <= kInlineBytes) {
    auto elements = graph::makeElements(type, source.bytes, [&] {
      return mlir::emitError(mlir::UnknownLoc::get(context));
    });
    return mlir::succeeded(elements) ? *elements : mlir::ElementsAttr();
  }
  uint64_t elementBytes = getElementBits(type.getElementType()) / 8;
  if (elementBytes && isSplat(source.bytes, elementBytes))
    return getDense(type, source.bytes.take_front(elementBytes));
  if (source.bytes.size() <= kInlineBytes)
    return getDense(type, source.bytes);
  if (type.getElementType().isInteger(1) &&
      llvm::any_of(source.bytes, [](char byte) { return uint8_t(byte) > 1; })) {
    error = "expected bools to be 0 or 1";
    return {};
  }
  auto &blobs = context->getLoadedDialect<graph::GraphDialect>()->getBlobs();
  auto emitError = [&] {
    return mlir::emitError(mlir::UnknownLoc::get(context));
  };
  auto blob = source.file.empty()
                  ? blobs.create(source.bytes, emitError)
                  : blobs.import(source.file, source.offset,
                                 source.bytes.size(), emitError);
  if (mlir::succeeded(blob))
    return graph::BlobElementsAttr::get(*blob, type);
  error = "expected the elements to be readable";
  return {};
}
