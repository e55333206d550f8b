// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// #graph.blob as an ElementsAttr, and constants of any size as bytes.
#include "Dialect/Graph/IR/Graph.h"
#include "Support/OutputFile.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the stored bits of an element: a bool is a byte.
static unsigned getStoredBits(Type type) {
  return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
}

/// Returns element i of stored bytes as an integer of its width.
static APInt loadBits(const char *data, ptrdiff_t i, unsigned bits) {
  if (bits == 1)
    return APInt(1, data[i] != 0);
  if (bits < 8)
    return APInt(bits, (uint8_t(data[i * bits / 8]) >> (i * bits % 8)) &
                           ((1u << bits) - 1));
  uint64_t words[2] = {0, 0};
  std::memcpy(words, data + i * (bits / 8), bits / 8);
  return APInt(bits, ArrayRef<uint64_t>(words, (bits + 63) / 64));
}

namespace adze::graph {
template <typename T>
T BlobElementsAttr::Reader<T>::operator()(ptrdiff_t i) const {
  if constexpr (std::is_same_v<T, APInt>) {
    return loadBits(data, i, bits);
  } else if constexpr (std::is_same_v<T, APFloat>) {
    return APFloat(cast<FloatType>(elementType).getFloatSemantics(),
                   loadBits(data, i, bits));
  } else if constexpr (std::is_same_v<T, Attribute>) {
    if (auto type = dyn_cast<FloatType>(elementType))
      return FloatAttr::get(
          type, APFloat(type.getFloatSemantics(), loadBits(data, i, bits)));
    return IntegerAttr::get(elementType, loadBits(data, i, bits));
  } else if constexpr (std::is_same_v<T, bool>) {
    return data[i] != 0;
  } else {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
}
template struct BlobElementsAttr::Reader<Attribute>;
template struct BlobElementsAttr::Reader<APInt>;
template struct BlobElementsAttr::Reader<APFloat>;
template struct BlobElementsAttr::Reader<bool>;
template struct BlobElementsAttr::Reader<uint8_t>;
template struct BlobElementsAttr::Reader<uint16_t>;
template struct BlobElementsAttr::Reader<uint32_t>;
template struct BlobElementsAttr::Reader<uint64_t>;
template struct BlobElementsAttr::Reader<int8_t>;
template struct BlobElementsAttr::Reader<int16_t>;
template struct BlobElementsAttr::Reader<int32_t>;
template struct BlobElementsAttr::Reader<int64_t>;
template struct BlobElementsAttr::Reader<float>;
template struct BlobElementsAttr::Reader<double>;
} // namespace adze::graph

//===----------------------------------------------------------------------===//
// #graph.blob
//===----------------------------------------------------------------------===//

LogicalResult
BlobElementsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         Blob *blob, ShapedType type) {
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return emitError() << "blob: expected a static shape of integers or "
                          "floats, but got "
                       << type;
  if (getNumBytes(type) != blob->key.bytes)
    return emitError() << "blob: expected " << getNumBytes(type)
                       << " bytes for " << type << ", but got "
                       << blob->key.bytes;
  return success();
}

FailureOr<ArrayRef<char>>
BlobElementsAttr::getBytes(function_ref<InFlightDiagnostic()> emitError) const {
  return getBlob()->getBytes(emitError);
}

/// Returns true if elements of a type can be read as the C++ type.
static bool canReadAs(Type type, TypeID id) {
  auto isOneOf = [&](auto... values) {
    return ((id == TypeID::get<decltype(values)>()) || ...);
  };
  if (id == TypeID::get<Attribute>())
    return true;
  if (type.isF32())
    return isOneOf(float()) || id == TypeID::get<APFloat>();
  if (type.isF64())
    return isOneOf(double()) || id == TypeID::get<APFloat>();
  if (isa<FloatType>(type))
    return id == TypeID::get<APFloat>();
  if (id == TypeID::get<APInt>())
    return true;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return isOneOf(bool());
  case 8:
    return isOneOf(uint8_t(), int8_t());
  case 16:
    return isOneOf(uint16_t(), int16_t());
  case 32:
    return isOneOf(uint32_t(), int32_t());
  case 64:
    return isOneOf(uint64_t(), int64_t());
  default:
    return false;
  }
}

FailureOr<const char *> BlobElementsAttr::getDataFor(TypeID id) const {
  if (!canReadAs(getElementType(), id))
    return failure();
  auto bytes = getBlob()->getBytes(
      [&] { return emitError(UnknownLoc::get(getContext())); });
  if (failed(bytes))
    llvm::report_fatal_error("unreadable constant, see above",
                             /*gen_crash_diag=*/false);
  return bytes->data();
}

bool BlobElementsAttr::isSplat() const {
  auto bytes = getBlob()->getBytes(nullptr);
  unsigned bits = getStoredBits(getElementType());
  if (failed(bytes) || bits < 8 || bytes->empty())
    return false;
  // The loop ends at the first difference, so it is cheap unless the constant
  // is a splat.
  size_t size = bits / 8;
  return !std::memcmp(bytes->data(), bytes->data() + size,
                      bytes->size() - size);
}

/// #graph.blob<"file", offset, bytes, "hash"> : type
Attribute BlobElementsAttr::parse(AsmParser &parser, Type type) {
  std::string file, hash;
  uint64_t offset;
  BlobKey key;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&file) || parser.parseComma() ||
      parser.parseInteger(offset) || parser.parseComma() ||
      parser.parseInteger(key.bytes) || parser.parseComma() ||
      parser.parseString(&hash) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped) {
    emitError() << "blob: expected a shaped type after ':'";
    return {};
  }
  if (hash.size() != 32 ||
      StringRef(hash).take_front(16).getAsInteger(16, key.high) ||
      StringRef(hash).drop_front(16).getAsInteger(16, key.low)) {
    emitError() << "blob: expected a hash of 32 hexadecimal digits";
    return {};
  }
  StringRef dir;
  if (auto where = dyn_cast<FileLineColLoc>(parser.getEncodedSourceLoc(loc)))
    dir = llvm::sys::path::parent_path(where.getFilename().getValue());
  BlobTable &table =
      parser.getContext()->getOrLoadDialect<GraphDialect>()->getBlobs();
  auto blob = table.get(key, file, dir, offset, emitError);
  if (failed(blob))
    return {};
  return getChecked(emitError, parser.getContext(), *blob, shaped);
}

void BlobElementsAttr::print(AsmPrinter &printer) const {
  Blob::Source source = getBlob()->getSource();
  const BlobTable &table = getBlob()->getTable();
  StringRef base = table.printBase;
  // The side file is printed by its final name.
  if (!base.empty() && source.spelled == table.sideFile)
    source.path = getAbsolutePath(table.sideFile);
  std::string shown = source.spelled;
  if (!base.empty()) {
    StringRef rest = source.path;
    shown = rest.consume_front(base) && rest.consume_front("/") ? rest.str()
                                                                : source.path;
  }
  printer << '<';
  printer.printString(shown);
  printer << ", " << source.offset << ", " << getBlob()->key.bytes << ", \""
          << getBlob()->key.toString() << "\">";
}

//===----------------------------------------------------------------------===//
// Constants of any size
//===----------------------------------------------------------------------===//

uint64_t adze::graph::getNumBytes(ShapedType type) {
  return llvm::divideCeil(uint64_t(type.getNumElements()) *
                              getStoredBits(type.getElementType()),
                          8);
}

/// Creates DenseElements of the bytes; `count` = 1 makes a splat of the first
/// element.
static DenseElementsAttr makeDense(ShapedType type, const char *data,
                                   int64_t count) {
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  SmallVector<Attribute> values;
  if (bits >= 8)
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(data, count * (bits / 8)));
  if (isa<FloatType>(element)) {
    SmallVector<APFloat> floats;
    for (int64_t i = 0; i < count; ++i)
      floats.push_back(APFloat(cast<FloatType>(element).getFloatSemantics(),
                               loadBits(data, i, bits)));
    return DenseElementsAttr::get(type, floats);
  }
  SmallVector<APInt> integers;
  for (int64_t i = 0; i < count; ++i)
    integers.push_back(loadBits(data, i, bits));
  return DenseElementsAttr::get(type, integers);
}

/// Creates DenseElements if the constant is small or a splat, else returns
/// null.
static DenseElementsAttr makeDenseIfSmall(ShapedType type,
                                          ArrayRef<char> bytes) {
  if (bytes.size() <= kMaxDenseBytes)
    return makeDense(type, bytes.data(), type.getNumElements());
  unsigned bits = getStoredBits(type.getElementType());
  size_t size = bits / 8;
  if (bits < 8 ||
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size))
    return {};
  return makeDense(type, bytes.data(), 1);
}

static BlobTable &getTable(MLIRContext *context) {
  return context->getOrLoadDialect<GraphDialect>()->getBlobs();
}

FailureOr<ElementsAttr> adze::graph::makeElements(ShapedType type,
                                                  ArrayRef<char> bytes,
                                                  EmitError emitError) {
  assert(bytes.size() == getNumBytes(type) && "bytes that fill the type");
  if (DenseElementsAttr dense = makeDenseIfSmall(type, bytes))
    return ElementsAttr(dense);
  auto blob = getTable(type.getContext()).create(bytes, emitError);
  if (failed(blob))
    return failure();
  return ElementsAttr(BlobElementsAttr::get(*blob, type));
}

FailureOr<ElementsAttr> adze::graph::importElements(ShapedType type,
                                                    StringRef file,
                                                    uint64_t offset,
                                                    EmitError emitError) {
  auto blob = getTable(type.getContext())
                  .import(file, offset, getNumBytes(type), emitError);
  if (failed(blob))
    return failure();
  auto bytes = (*blob)->getBytes(emitError);
  if (failed(bytes))
    return failure();
  if (DenseElementsAttr dense = makeDenseIfSmall(type, *bytes))
    return ElementsAttr(dense);
  return ElementsAttr(BlobElementsAttr::get(*blob, type));
}

FailureOr<ArrayRef<char>> adze::graph::readElements(ElementsAttr elements,
                                                    std::vector<char> &storage,
                                                    EmitError emitError) {
  if (auto blob = dyn_cast<BlobElementsAttr>(elements))
    return blob.getBytes(emitError);
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense) {
    if (emitError)
      emitError() << "expected dense elements or a blob, but got " << elements;
    return failure();
  }
  ShapedType type = dense.getType();
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  ArrayRef<char> raw = dense.getRawData();
  if (bits >= 8 && !dense.isSplat())
    return raw;
  storage.assign(getNumBytes(type), 0);
  if (bits >= 8) {
    size_t size = bits / 8;
    for (size_t at = 0; at < storage.size(); at += size)
      std::memcpy(&storage[at], raw.data(), size);
    return ArrayRef<char>(storage);
  }
  bool isFloat = isa<FloatType>(element);
  auto store = [&](size_t i, uint64_t value) {
    if (bits == 1)
      storage[i] = char(value);
    else
      storage[i * bits / 8] |= char(value << (i * bits % 8));
  };
  if (isFloat)
    for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>()))
      store(i, value.bitcastToAPInt().getZExtValue());
  else
    for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
      store(i, value.getZExtValue());
  return ArrayRef<char>(storage);
}
