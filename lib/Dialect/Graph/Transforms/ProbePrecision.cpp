// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-probe-precision: makes a module that measures the error of a narrower
// type for each product.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "PrecisionProducts.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_PROBEPRECISIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the multiplications of a product; dynamic dims count as 1.
static double countMultiplications(Operation *op) {
  double count = 1;
  auto multiply = [&](AffineExpr dim) {
    count *= double(getConstant(dim).value_or(1));
  };
  Dims weight = getDims(op->getOperand(1));
  if (isa<ConvOp>(op)) { // positions of the result by elements of a filter
    for (AffineExpr dim : llvm::drop_begin(getDims(op->getResult(0)), 2))
      multiply(dim);
    multiply(getDims(op->getResult(0)).front());
    for (AffineExpr dim : weight)
      multiply(dim);
    return count;
  }
  for (AffineExpr dim : getDims(op->getResult(0)))
    multiply(dim);
  multiply(getDims(op->getOperand(0))
               .end()[cast<MatmulOp>(op).getTransposeA() ? -2 : -1]);
  return count;
}

namespace {

class ProbePrecisionPass final
    : public adze::graph::impl::ProbePrecisionPassBase<ProbePrecisionPass> {
public:
  using ProbePrecisionPassBase::ProbePrecisionPassBase;

  void runOnOperation() override {
    OpBuilder b(&getContext());
    narrow = type == "f16" ? Type(b.getF16Type()) : Type(b.getBF16Type());
    SmallVector<Operation *> products =
        findPrecisionProducts(getOperation(), narrow);
    SmallVector<Attribute> rows;
    for (Operation *op : products)
      rows.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("name", b.getStringAttr(getNodeName(op->getLoc()))),
           b.getNamedAttr("work",
                          b.getF64FloatAttr(countMultiplications(op)))}));
    getOperation()->setAttr(kProbedProductsAttribute, b.getArrayAttr(rows));
    if (products.empty())
      return;
    auto function = products.front()->getParentOfType<func::FuncOp>();
    if (llvm::any_of(products, [&](Operation *op) {
          return op->getParentOp() != function;
        })) {
      function.emitError("unsupported: --precision=auto of products in bodies "
                         "of If, Loop or Scan; name a type, such as "
                         "--precision=")
          << type;
      return signalPassFailure();
    }
    Value flags = addFlags(function, products.size());
    for (auto [i, op] : llvm::enumerate(products))
      for (OpOperand &operand : op->getOpOperands().take_front(2))
        operand.set(round(op, operand.get(), flags, i));
  }

private:
  /// Returns the new argument: for each product, whether it rounds.
  Value addFlags(func::FuncOp function, size_t count) {
    OpBuilder b(&getContext());
    auto type = RankedTensorType::get({int64_t(count)}, b.getI1Type());
    unsigned index = function.getNumArguments();
    auto name = b.getNamedAttr(host::nameAttr, b.getStringAttr("adze.narrow"));
    (void)function.insertArgument(index, type, b.getDictionaryAttr({name}),
                                  function.getLoc());
    return function.getArgument(index);
  }

  /// Returns `x`, rounded if flag `index` is set.
  Value round(Operation *op, Value x, Value flags, int64_t index) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto one = RankedTensorType::get({1}, b.getI1Type());
    Value flag = SliceOp::create(b, loc, one, flags, ArrayRef<int64_t>{index},
                                 ArrayRef<int64_t>{1});
    Value rounded = CastOp::create(b, loc, makeType(narrow, getDims(x)), x);
    Value wide = CastOp::create(b, loc, x.getType(), rounded);
    return SelectOp::create(b, loc, x.getType(), flag, wide, x);
  }

  Type narrow;
};

} // namespace
