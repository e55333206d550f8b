// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants of the host program as parts of the weights section.
#include "Describe.h"
#include "Dialect/Graph/IR/Blob.h"
#include "Support/PackedLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace adze {

namespace {
/// A host.constant without the op, which is gone when its bytes are written.
struct Constant {
  ElementsAttr value;
  AffineMapAttr layout; // may be null
  uint64_t storedBytes;
  Location loc;
};
} // namespace

/// Writes the bytes, packed by the layout; from the mapping if there is none.
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
  constexpr uint64_t pieceBytes = 64 << 20; // of memory, whatever the weights'
  uint64_t written = 0;
  packInPieces(*bytes, type.getShape(), constant.layout.getValue(),
               elementBytes, pieceBytes, [&](ArrayRef<char> piece) {
                 os.write(piece.data(), piece.size());
                 written += piece.size();
               });
  os.write_zeros(constant.storedBytes - written);
  return llvm::Error::success();
}

LogicalResult collectWeights(func::FuncOp program,
                             std::vector<package::Weight> &weights,
                             std::string &digest) {
  std::vector<host::ConstantOp> constants;
  llvm::DenseSet<int64_t> offsets;
  program.walk([&](host::ConstantOp op) {
    // An empty constant lies where another one begins.
    if (op.getStoredBytes() != 0 && offsets.insert(*op.getOffset()).second)
      constants.push_back(op);
  });
  llvm::sort(constants, [](host::ConstantOp a, host::ConstantOp b) {
    return *a.getOffset() < *b.getOffset();
  });
  for (host::ConstantOp op : constants) {
    if (AffineMapAttr layout = op.getLayoutAttr()) {
      Type element = op.getValue().getElementType();
      if (element.getIntOrFloatBitWidth() < 8 && !element.isInteger(1))
        return op.emitError("unsupported: packing of ") << element;
    }
    std::vector<char> storage;
    FailureOr<ArrayRef<char>> bytes = graph::readElements(
        op.getValue(), storage, [&] { return op.emitError(); });
    if (failed(bytes))
      return failure();
    digest += graph::BlobKey::get(*bytes).toString() + ";";
    Constant constant = {op.getValue(), op.getLayoutAttr(),
                         uint64_t(op.getStoredBytes()), op.getLoc()};
    weights.push_back({uint64_t(*op.getOffset()), constant.storedBytes,
                       [constant](llvm::raw_ostream &os) {
                         return writeConstant(constant, os);
                       }});
  }
  return success();
}

} // namespace adze
