// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants, with all their attributes.
#include "../OpTable.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

template <typename T>
static mlir::Value makeVector(Binder &b, mlir::Type type,
                              llvm::ArrayRef<T> values) {
  return b.constant(mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get({int64_t(values.size())}, type), values));
}

static LogicalResult importConstant(Binder &b) {
  if (b.node.attributes.size() != 1)
    return b.fail("expected one attribute, but got " +
                  llvm::Twine(b.node.attributes.size()));
  const Attribute &value = b.node.attributes.front();
  mlir::Type f32 = b.builder.getF32Type(), i64 = b.builder.getI64Type();
  switch (value.kind) {
  case Attribute::Kind::Tensor:
    b.warnOf(value.tensors.front());
    return b.done(b.constant(b.getElements(value.tensors.front())));
  case Attribute::Kind::Float:
    return b.done(b.scalar(f32, value.f));
  case Attribute::Kind::Int: {
    auto type = mlir::RankedTensorType::get({}, i64);
    return b.done(b.constant(mlir::DenseElementsAttr::get(type, value.i)));
  }
  case Attribute::Kind::Floats: {
    llvm::SmallVector<float> floats(value.floats.begin(), value.floats.end());
    return b.done(makeVector<float>(b, f32, floats));
  }
  case Attribute::Kind::Ints:
    return b.done(makeVector<int64_t>(b, i64, value.ints));
  case Attribute::Kind::String:
    return b.done(b.string(value.s));
  case Attribute::Kind::Strings:
    return b.done(b.strings(value.strings));
  default:
    return b.unsupported("expected a tensor or numbers, but got attribute '" +
                         value.name + "'");
  }
}

void adze::importer::addConstantOps(std::vector<OpRow> &rows) {
  rows.push_back({"Constant", 1, 0, importConstant});
}
