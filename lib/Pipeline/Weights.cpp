// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes constants of the host program to the weights section.
#include "Describe.h"
#include "Dialect/Graph/IR/Blob.h"
#include "Support/PackedLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;

namespace adze {

namespace {
/// The data of a host.constant, which is erased before its bytes are written.
struct Constant {
  ElementsAttr value;
  AffineMapAttr layout; // may be null
  uint64_t storedBytes;
  Location loc;
};
} // namespace

/// Writes the bytes, packed by the layout, or from the mapping without a
/// layout.
static llvm::Error writeConstant(const Constant &constant,
                                 llvm::raw_ostream &os) {
  std::vector<char> storage;
  FailureOr<ArrayRef<char>> bytes = graph::readElements(
      constant.value, storage, [&] { return emitError(constant.loc); });
  if (failed(bytes))
    return llvm::createStringError("a constant could not be read");
  if (!constant.layout) {
    os.write(bytes->data(), bytes->size());
    return llvm::Error::success();
  }
  ShapedType type = constant.value.getShapedType();
  unsigned elementBytes =
      std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
  // Limits the memory for weights of any size.
  constexpr uint64_t pieceBytes = 64 << 20;
  uint64_t written = 0;
  packInPieces(*bytes, type.getShape(), constant.layout.getValue(),
               elementBytes, pieceBytes, [&](ArrayRef<char> piece) {
                 os.write(piece.data(), piece.size());
                 written += piece.size();
               });
  os.write_zeros(constant.storedBytes - written);
  return llvm::Error::success();
}

/// Returns a digest of the bytes of a constant in memory.
static FailureOr<std::string> getDigest(host::ConstantOp op) {
  std::vector<char> storage;
  FailureOr<ArrayRef<char>> bytes = graph::readElements(
      op.getValue(), storage, [&] { return op.emitError(); });
  if (failed(bytes))
    return failure();
  return graph::BlobKey::get(*bytes).toString();
}

//===----------------------------------------------------------------------===//
// Two programs
//===----------------------------------------------------------------------===//

namespace {
/// The key of constants with equal bytes in the section: packing depends on
/// shape and type.
using ConstantKey = std::tuple<std::string, const void *, const void *>;

struct KeyedConstant {
  host::ConstantOp op;
  ConstantKey key;
};
} // namespace

static FailureOr<std::vector<KeyedConstant>>
collectKeyed(func::FuncOp program, std::set<ConstantKey> &keys) {
  std::vector<KeyedConstant> constants;
  WalkResult result = program.walk([&](host::ConstantOp op) {
    FailureOr<std::string> digest = getDigest(op);
    if (failed(digest))
      return WalkResult::interrupt();
    AffineMapAttr layout = op.getLayoutAttr();
    Type type = layout ? Type(op.getValue().getShapedType()) : Type();
    constants.push_back(
        {op,
         {*digest + " " + std::to_string(op.getStoredBytes()),
          layout.getAsOpaquePointer(), type.getAsOpaquePointer()}});
    keys.insert(constants.back().key);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return std::move(constants);
}

FailureOr<uint64_t> joinWeights(func::FuncOp first, func::FuncOp second) {
  std::set<ConstantKey> firstKeys, secondKeys;
  auto own = collectKeyed(first, firstKeys);
  auto other = collectKeyed(second, secondKeys);
  if (failed(own) || failed(other))
    return failure();
  int64_t total = 0;
  std::map<ConstantKey, int64_t> places;
  auto place = [&](std::vector<KeyedConstant> &constants,
                   function_ref<bool(const ConstantKey &)> isMeant) {
    for (auto &[op, key] : constants) {
      if (!isMeant(key))
        continue;
      auto [found, isNew] = places.try_emplace(key, total);
      if (isNew)
        total += llvm::alignTo(op.getStoredBytes(), host::placeAlignment);
      op.setOffset(found->second);
    }
  };
  place(*own, [&](const ConstantKey &key) { return !secondKeys.count(key); });
  int64_t begin = total;
  place(*own, [&](const ConstantKey &key) { return secondKeys.count(key); });
  place(*other, [](const ConstantKey &) { return true; });
  for (auto &[op, key] : *other)
    op.setOffset(*op.getOffset() - begin);
  Builder b(first.getContext());
  first->setAttr(host::weightsBytesAttr, b.getI64IntegerAttr(total));
  second->setAttr(host::weightsBytesAttr, b.getI64IntegerAttr(total - begin));
  return uint64_t(begin);
}

//===----------------------------------------------------------------------===//
// The section
//===----------------------------------------------------------------------===//

LogicalResult collectWeights(ArrayRef<func::FuncOp> programs, uint64_t offset,
                             std::vector<package::Weight> &weights,
                             std::string &digest) {
  std::map<uint64_t, host::ConstantOp> constants;
  for (func::FuncOp program : programs) {
    uint64_t begin = program == programs.back() ? offset : 0;
    program.walk([&](host::ConstantOp op) {
      // An empty constant has the offset of another one.
      if (op.getStoredBytes() != 0)
        constants.try_emplace(begin + *op.getOffset(), op);
    });
  }
  for (auto &[at, op] : constants) {
    if (AffineMapAttr layout = op.getLayoutAttr()) {
      Type element = op.getValue().getElementType();
      if (element.getIntOrFloatBitWidth() < 8 && !element.isInteger(1))
        return op.emitError("unsupported: packing of ") << element;
    }
    FailureOr<std::string> content = getDigest(op);
    if (failed(content))
      return failure();
    digest += *content + ";";
    Constant constant = {op.getValue(), op.getLayoutAttr(),
                         uint64_t(op.getStoredBytes()), op.getLoc()};
    weights.push_back(
        {at, constant.storedBytes, [constant](llvm::raw_ostream &os) {
           return writeConstant(constant, os);
         }});
  }
  return success();
}

} // namespace adze
