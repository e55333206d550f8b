// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gather, scatter and other operators with indices.
#include "../IndexRange.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Checks the indices along `axis` of `data`, which are not tuples.
static LogicalResult checkIndices(Binder &b, Value data, int64_t axis) {
  return b.hasFailed()
             ? mlir::failure()
             : checkIndices(b, b.operand(1), graph::getDims(data)[axis]);
}

/// Checks that no dim of the indices other than the axis is known to exceed
/// that of the data, if there are indices.
static LogicalResult checkExtents(Binder &b, int64_t axis) {
  Value data = b.operand(0), indices = b.operand(1);
  Dims dims = graph::getDims(data), wanted = graph::getDims(indices);
  bool isEmpty = llvm::any_of(wanted, [](mlir::AffineExpr size) {
    return size && graph::getConstant(size) == 0;
  });
  if (b.hasFailed() || isEmpty || dims.size() != wanted.size())
    return mlir::failure(b.hasFailed()); // otherwise the op reports it
  for (int64_t d = 0, rank = dims.size(); d < rank; ++d) {
    auto size = graph::getConstant(dims[d]),
         most = graph::getConstant(wanted[d]);
    if (d != axis && size && most && *most > *size)
      return b.fail("expected indices that have no dim but that of the axis "
                    "greater than the data, but got " +
                    graph::toString(wanted) + " for " + graph::toString(dims));
  }
  return mlir::success();
}

template <typename OpT>
static LogicalResult importGather(Binder &b) {
  Value data = b.operand(0);
  int64_t axis = b.getAxis("axis", 0, b.getRank(data));
  bool hasExtents = std::is_same_v<OpT, graph::GatherElementsOp>;
  if (mlir::failed(checkIndices(b, data, axis)) ||
      (hasExtents && mlir::failed(checkExtents(b, axis))))
    return mlir::failure();
  return b.done(b.create<OpT>({data, b.operand(1)}, b.attr("axis", axis)));
}

/// Returns the indices with tuples of known length, which determines the rank
/// of the selected slices, `picked` if it is known. Returns null after an
/// error.
static Value getTuples(Binder &b, std::optional<int64_t> picked) {
  Value indices = b.operand(1);
  Dims dims = graph::getDims(indices);
  if (dims.empty() || graph::getConstant(dims.back()))
    return indices;
  if (!picked) {
    (void)b.unsupported("expected indices whose last dim is static, but got " +
                        graph::toString(dims));
    return {};
  }
  int64_t length = b.getRank(b.operand(0)) + int64_t(dims.size()) - 1 - *picked;
  if (length < 0) {
    (void)b.fail("expected index tuples of at most as many elements as the "
                 "data has dims");
    return {};
  }
  Dims wanted(dims.size());
  wanted.back() = b.expr(length);
  return b.refine(indices, wanted);
}

/// Checks tuples, which index the dims after the first `batch` ones.
static LogicalResult checkTuples(Binder &b, Value indices, int64_t batch) {
  Dims dims = graph::getDims(b.operand(0)), tuple = graph::getDims(indices);
  auto length = tuple.empty() ? std::nullopt : graph::getConstant(tuple.back());
  int64_t rank = dims.size();
  if (!length || batch < 0 || batch > rank || *length > rank - batch)
    return mlir::success(); // the op reports it
  return checkIndices(b, indices, llvm::ArrayRef(dims).slice(batch, *length));
}

static LogicalResult importGatherND(Binder &b) {
  int64_t batch = b.getInt("batch_dims", 0);
  auto rank = b.getDeclaredRank();
  if (batch < 0 || batch > b.getRank(b.operand(0)))
    rank = std::nullopt; // the op reports it
  Value indices =
      getTuples(b, rank ? std::make_optional(*rank + batch) : std::nullopt);
  if (!indices || mlir::failed(checkTuples(b, indices, batch)))
    return mlir::failure();
  return b.done(b.create<graph::GatherNDOp>({b.operand(0), indices},
                                            b.attr("batch_dims", batch)));
}

static mlir::NamedAttribute getReduction(Binder &b) {
  llvm::StringRef name = b.getString("reduction", "none");
  auto reduction = graph::symbolizeScatterReduction(name);
  if (!reduction)
    (void)b.fail("expected reduction to be none, add, mul, max or min, but "
                 "got '" +
                 name + "'");
  mlir::Attribute attribute = graph::ScatterReductionAttr::get(
      b.builder.getContext(),
      reduction.value_or(graph::ScatterReduction::None));
  return b.attr("reduction", attribute);
}

static LogicalResult importScatterElements(Binder &b) {
  Value data = b.operand(0), indices = b.operand(1), updates = b.operand(2);
  int64_t axis = b.getAxis("axis", 0, b.getRank(data));
  if (mlir::failed(checkIndices(b, data, axis)) ||
      mlir::failed(checkExtents(b, axis)))
    return mlir::failure();
  // The op would broadcast indices, which ONNX does not.
  if (b.getRank(indices) == b.getRank(updates))
    updates = b.refine(updates, graph::getDims(indices));
  return b.done(b.create<graph::ScatterElementsOp>(
      {data, indices, updates}, {b.attr("axis", axis), getReduction(b)}));
}

static LogicalResult importScatterND(Binder &b) {
  Value indices = getTuples(b, b.getRank(b.operand(2)));
  if (!indices || mlir::failed(checkTuples(b, indices, 0)))
    return mlir::failure();
  return b.done(b.create<graph::ScatterNDOp>(
      {b.operand(0), indices, b.operand(2)}, getReduction(b)));
}

static bool isConstant(Value value) {
  mlir::ElementsAttr elements;
  return matchPattern(value, mlir::m_Constant(&elements));
}

static LogicalResult importOneHot(Binder &b) {
  Value indices = b.operand(0), depth = b.operand(1);
  int64_t axis = b.getAxis("axis", -1, b.getRank(indices) + 1);
  if (b.hasFailed())
    return mlir::failure();
  mlir::AffineExpr size;
  if (llvm::isa<mlir::FloatType>(b.getElementType(depth)) &&
      isConstant(depth)) {
    auto constant = b.getConstantFloat(1);
    if (!constant || *constant < 0 || *constant > INT32_MAX)
      return b.unsupported("expected a constant depth of at least 0");
    size = b.expr(int64_t(*constant));
  } else {
    Dims sizes = b.getSizes(Sizes(b).toVector(depth));
    if (b.hasFailed())
      return mlir::failure();
    if (sizes.size() != 1)
      return b.fail("expected a depth of one element, but got " +
                    llvm::Twine(sizes.size()));
    size = sizes.front();
  }
  if (!b.assumeNonNegative(size))
    return b.fail("expected a depth >= 0");
  Dims dims = graph::getDims(indices);
  dims.insert(dims.begin() + axis, size);
  Value values = b.withLength(b.operand(2), 2);
  if (!values)
    return mlir::failure();
  return b.done(b.createAs<graph::OneHotOp>(
      graph::makeType(b.getElementType(values), dims), {indices, values},
      b.attr("axis", axis)));
}

/// Returns coordinates [rank, count].
static Value buildNonZero(Binder &b, Value x) {
  if (!x)
    return {};
  // A mask that selects from several tensors has one number of elements.
  for (mlir::Operation *user : x.getUsers())
    if (auto same = llvm::dyn_cast<graph::NonZeroOp>(user);
        same && same->getBlock() == b.builder.getInsertionBlock())
      return same.getResult();
  Sizes sizes(b);
  if (Binder::isString(x))
    x = b.create<graph::NotOp>(b.create<graph::EqualOp>({x, b.string("")}));
  Value flags = b.cast(x, b.builder.getI1Type());
  flags = b.cast(flags, b.builder.getI64Type());
  if (b.getRank(x) != 1)
    flags = b.reshape(
        flags, graph::product(b.builder.getContext(), graph::getDims(x)));
  Dims count = b.getSizes(b.reshape(sizes.sum(flags), b.expr(1)));
  if (b.hasFailed())
    return {};
  Dims dims{b.expr(b.getRank(x)), count.front()};
  return b.createAs<graph::NonZeroOp>(
      graph::makeType(b.builder.getI64Type(), dims), x);
}

static LogicalResult importNonZero(Binder &b) {
  return b.done(buildNonZero(b, b.operand(0)));
}

/// Selects the slices for which a condition holds, by a gather at its nonzeros.
static LogicalResult importCompress(Binder &b) {
  Value x = b.operand(0), condition = b.operand(1);
  int64_t axis = 0;
  if (b.getRank(condition) != 1)
    return b.fail("expected a 1-D condition, but got " +
                  llvm::Twine(b.getRank(condition)) + "-D");
  if (b.hasAttribute("axis"))
    axis = b.getAxis("axis", 0, b.getRank(x));
  else
    x = b.reshape(x, graph::product(b.builder.getContext(), graph::getDims(x)));
  Value coordinates = buildNonZero(b, condition);
  if (!coordinates)
    return mlir::failure();
  Value indices = b.reshape(coordinates, graph::getDims(coordinates)[1]);
  // A longer condition must be false beyond the end.
  mlir::AffineExpr size = graph::getDims(x)[axis];
  if (!graph::areEqual(graph::getDims(condition)[0], size) &&
      mlir::failed(checkIndices(b, indices, size, NegativeIndex::OutOfRange)))
    return mlir::failure();
  return b.done(b.create<graph::GatherOp>({x, indices}, b.attr("axis", axis)));
}

void adze::importer::addIndexingOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"Compress", 9, 2, importCompress},
                              {"Gather", 1, 2, importGather<graph::GatherOp>},
                              {"GatherElements", 11, 2,
                               importGather<graph::GatherElementsOp>},
                              {"GatherND", 11, 2, importGatherND},
                              {"NonZero", 9, 1, importNonZero},
                              {"OneHot", 9, 3, importOneHot},
                              {"Scatter", 9, 3, importScatterElements},
                              {"ScatterElements", 11, 3, importScatterElements},
                              {"ScatterND", 11, 3, importScatterND},
                          });
}
