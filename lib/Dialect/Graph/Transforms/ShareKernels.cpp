// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-share-kernels: makes scalar constants operands of clusters that
// otherwise are equal, so that they share one kernel.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Fusion.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace adze::graph {
#define GEN_PASS_DEF_SHAREKERNELSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns true for a number that may be read from memory. Other ops may be
/// compiled differently if it is constant.
bool isNumber(Operation &op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto type = constant ? dyn_cast<RankedTensorType>(constant.getType())
                       : RankedTensorType();
  return type && type.hasStaticShape() && type.getNumElements() == 1 &&
         llvm::all_of(op.getUsers(),
                      [&](Operation *user) { return isPointwise(user); });
}

SmallVector<ConstantOp> getNumbers(ClusterOp cluster) {
  SmallVector<ConstantOp> numbers;
  for (Operation &op : cluster.getBody().front())
    if (isNumber(op))
      numbers.push_back(cast<ConstantOp>(op));
  return numbers;
}

/// Clusters whose hashes are equal. Even for different clusters, making numbers
/// operands is correct.
struct Form {
  SmallVector<ClusterOp> clusters;
  llvm::SetVector<Attribute> numbers; // lists, one of each kind
};

/// Returns which of the numbers differ between clusters.
SmallVector<bool> findDifferent(const Form &form) {
  auto first = cast<ArrayAttr>(form.numbers.front());
  SmallVector<bool> different(first.size());
  for (Attribute list : form.numbers)
    for (auto [differs, lhs, rhs] :
         llvm::zip(different, cast<ArrayAttr>(list), first))
      differs |= lhs != rhs;
  return different;
}

void makeOperands(ClusterOp cluster, ArrayRef<bool> which) {
  OpBuilder builder(cluster);
  for (auto [constant, isChosen] : llvm::zip(getNumbers(cluster), which)) {
    if (!isChosen)
      continue;
    Operation *outside = builder.clone(*constant);
    cluster.getInputsMutable().append(outside->getResults());
    Value argument =
        cluster.getBody().addArgument(constant.getType(), constant.getLoc());
    constant.replaceAllUsesWith(argument);
    constant.erase();
  }
}

struct ShareKernelsPass final
    : adze::graph::impl::ShareKernelsPassBase<ShareKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<size_t, Form> forms;
    getOperation()->walk([&](ClusterOp cluster) {
      SmallVector<Attribute> values;
      for (ConstantOp number : getNumbers(cluster))
        values.push_back(number.getValue());
      if (values.empty())
        return;
      size_t key = llvm::hash_combine(
          hashForm(cluster.getBody().front(), isNumber), values.size());
      Form &form = forms[key];
      form.clusters.push_back(cluster);
      form.numbers.insert(ArrayAttr::get(&getContext(), values));
    });
    for (auto &[key, form] : forms) {
      if (form.numbers.size() < leastKernels)
        continue;
      SmallVector<bool> different = findDifferent(form);
      for (ClusterOp cluster : form.clusters)
        makeOperands(cluster, different);
      numSaved += form.numbers.size() - 1;
    }
  }
};

} // namespace
