// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that reshape, move or repeat elements.
#include "../DataShapes.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Dialect/Graph/IR/Broadcast.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

static llvm::SmallVector<int64_t> iota(int64_t n) {
  return llvm::to_vector(llvm::seq<int64_t>(0, n));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult importReshape(Binder &b) {
  Value x = b.operand(0), shape = b.operand(1);
  // The shape is an attribute before version 5.
  if (auto sizes = b.version() < 5 ? b.getInts("shape") : std::nullopt)
    shape = b.ints(*sizes);
  if (!shape)
    return b.fail("expected a shape to be present");
  shape = b.withDeclaredRank(shape);
  auto elements = graph::getElements(shape);
  if (!elements)
    return b.done(reshapeByData(b, x, shape, b.getInt("allowzero", 0) != 0));
  Dims wanted(elements->begin(), elements->end());
  std::string error;
  auto dims = graph::reshapeDims(graph::getDims(x), wanted,
                                 b.getInt("allowzero", 0) != 0, error);
  if (mlir::failed(dims))
    return b.fail(error);
  return b.done(b.reshape(x, *dims));
}

static LogicalResult importFlatten(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x), axis = b.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return b.fail("expected an axis in [" + llvm::Twine(-rank) + ", " +
                  llvm::Twine(rank) + "], but got " + llvm::Twine(axis));
  if (axis < 0)
    axis += rank;
  Dims dims = graph::getDims(x);
  auto *context = b.builder.getContext();
  llvm::ArrayRef<AffineExpr> all = dims;
  return b.done(b.reshape(x, {graph::product(context, all.take_front(axis)),
                              graph::product(context, all.drop_front(axis))}));
}

/// The axes are an attribute before version 13, and an operand since. Without
/// axes, all dims of size 1 are removed.
static LogicalResult importSqueeze(Binder &b) {
  Value x = b.operand(0);
  Dims dims = graph::getDims(x), kept;
  if (b.operand(1) && !graph::getConstantElements(b.operand(1))) {
    auto rank = b.getDeclaredRank();
    return b.done(
        squeezeByData(b, x,
                      rank ? b.withLength(b.operand(1), b.getRank(x) - *rank)
                           : b.operand(1)));
  }
  auto axes = b.getAxes(1, dims.size());
  if (b.hasFailed())
    return mlir::failure();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto size = dim ? graph::getConstant(dim) : std::nullopt;
    bool remove = axes ? llvm::is_contained(*axes, int64_t(i)) : size == 1;
    if (remove && size && *size != 1)
      return b.fail("expected dim " + llvm::Twine(i) + " to be 1, but got " +
                    llvm::Twine(*size));
    if (!remove)
      kept.push_back(dim);
  }
  // Dynamic dims may be 1; the declared rank determines how many are.
  auto rank = b.getDeclaredRank();
  if (!axes && rank && *rank < int64_t(kept.size()))
    return b.done(squeezeUnits(b, x, *rank));
  auto isOpen = [](AffineExpr dim) { return !dim || !graph::getConstant(dim); };
  if (!axes && llvm::any_of(kept, isOpen))
    b.warn("there are no axes, so dynamic dims are kept, even if their size in "
           "a run is 1; --dim or --shape makes them known");
  return b.done(b.reshape(x, kept));
}

static LogicalResult importUnsqueeze(Binder &b) {
  Value x = b.operand(0);
  auto axes = b.getInts("axes");
  if (!axes && b.operand(1) && !graph::getConstantElements(b.operand(1))) {
    auto rank = b.getDeclaredRank();
    return b.done(
        unsqueezeByData(b, x,
                        rank ? b.withLength(b.operand(1), *rank - b.getRank(x))
                             : b.operand(1)));
  }
  if (!axes && b.operand(1))
    axes = b.getConstantInts(1);
  if (!axes)
    return b.fail("expected axes, but got none");
  auto sorted = b.normalizeAxes(*axes, b.getRank(x) + axes->size());
  if (b.hasFailed())
    return mlir::failure();
  return b.done(b.unsqueeze(x, sorted));
}

static LogicalResult importTranspose(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  auto perm = b.getInts("perm");
  if (!perm) {
    perm = iota(rank);
    std::reverse(perm->begin(), perm->end());
  }
  llvm::SmallVector<int64_t> sorted = *perm;
  llvm::sort(sorted);
  if (sorted != iota(rank))
    return b.fail("expected perm to be a permutation of " + llvm::Twine(rank) +
                  " dims");
  return b.done(b.transpose(x, *perm));
}

/// Pads a shape of unknown length with leading ones to the known rank of the
/// result, which is that of the input or of the shape.
static Value alignShape(Binder &b, Value shape, int64_t rank,
                        int64_t inputRank) {
  Sizes s(b);
  shape = s.toVector(shape);
  if (!shape || graph::getConstant(graph::getDims(shape)[0]))
    return shape;
  if (rank > inputRank)
    return b.withLength(shape, rank);
  // Element i of the result is element 1 + i - (rank - length) of the vector
  // with a leading one, or that one.
  Value skipped = s.sub(s.number(rank - 1), s.pickScalar(s.shape(shape), 0));
  Value from = s.max(s.sub(s.vector(iota(rank)), skipped), s.number(0));
  return b.create<graph::GatherOp>({s.concat({s.splat(1, 1), shape}), from},
                                   b.attr("axis", int64_t(0)));
}

static LogicalResult importExpand(Binder &b) {
  Value x = b.operand(0), shape = b.operand(1);
  if (auto rank = b.getDeclaredRank())
    shape = alignShape(b, shape, *rank, b.getRank(x));
  Dims wanted = b.getSizes(shape);
  if (b.hasFailed())
    return mlir::failure();
  std::string error;
  auto dims = graph::broadcastDims({graph::getDims(x), wanted}, error);
  if (mlir::failed(dims))
    return b.fail(error);
  if (llvm::is_contained(*dims, AffineExpr()))
    *dims = b.bindBroadcast({Sizes(b).shape(x), shape}, *dims);
  if (b.hasFailed())
    return mlir::failure();
  // Sizes that the result does not have must be valid, too.
  for (auto [size, to] : llvm::zip(llvm::reverse(wanted), llvm::reverse(*dims)))
    b.assume(graph::broadcastsAttr, {size, to});
  return b.done(b.broadcastTo(x, *dims));
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

static LogicalResult importConcat(Binder &b) {
  int64_t rank = b.getRank(b.operand(0));
  if (b.version() >= 4 && !b.hasAttribute("axis"))
    return b.fail("expected attribute 'axis', but got none");
  int64_t axis = b.hasAttribute("axis") ? b.getAxis("axis", 0, rank)
                                        : b.normalizeAxis(1, rank);
  if (b.hasFailed())
    return mlir::failure();
  return b.done(b.concat(b.getOperands(), axis));
}

/// Returns the sizes of the parts: given, or equal with the remainder in the
/// last one.
static LogicalResult getSplitSizes(Binder &b, AffineExpr dim,
                                   llvm::SmallVector<int64_t> &sizes) {
  size_t count = b.node.outputs.size();
  auto given = b.getInts("split");
  if (!given && b.operand(1))
    given = b.getConstantInts(1);
  if (b.hasFailed())
    return mlir::failure();
  auto size = dim ? graph::getConstant(dim) : std::nullopt;
  if (given) {
    sizes = *given;
    int64_t sum = 0;
    for (int64_t part : sizes)
      if (part < 0 || llvm::AddOverflow(sum, part, sum))
        return b.fail("expected sizes of pieces >= 0");
    if (sizes.size() != count || (size && *size != sum))
      return b.fail("expected " + llvm::Twine(count) +
                    " sizes that sum up to the dim, but got " +
                    llvm::Twine(sizes.size()) + " with the sum " +
                    llvm::Twine(sum));
    return mlir::success();
  }
  int64_t parts = b.getInt("num_outputs", count);
  if (parts != int64_t(count))
    return b.fail("expected num_outputs to be the number of outputs, but got " +
                  llvm::Twine(parts));
  if (!size)
    return mlir::success(); // computed at run time
  int64_t part = llvm::divideCeil(*size, parts);
  if (*size % parts != 0 && b.version() < 18)
    return b.fail("expected a dim divisible by " + llvm::Twine(parts) +
                  ", but got " + llvm::Twine(*size));
  for (int64_t i = 0; i < parts; ++i)
    sizes.push_back(std::clamp<int64_t>(*size - i * part, 0, part));
  return mlir::success();
}

/// Returns equal parts of a dynamic dim. Newer versions have a smaller one at
/// the end, followed by empty ones.
static Value buildEqualSizes(Binder &b, Value x, int64_t axis) {
  Sizes s(b);
  int64_t parts = b.node.outputs.size();
  Value size = s.pick(s.shape(x), axis), number = s.number(parts);
  if (b.version() < 18) {
    Value part = s.div(size, number);
    b.checkEqual(s.mul(part, number), size,
                 "expected a dim divisible by the number of outputs");
    return b.broadcastTo(part, b.expr(parts));
  }
  Value part = s.div(s.add(size, s.number(parts - 1)), number);
  // Neither part is empty unless the dim is, and the last is not larger.
  if (parts == 2)
    return s.concat({part, s.sub(size, part)});
  Value rest = s.sub(size, s.mul(s.vector(iota(parts)), part));
  return s.max(s.min(rest, part), s.number(0));
}

static LogicalResult importSplit(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", 0, b.getRank(x));
  llvm::SmallVector<int64_t> sizes;
  if (!b.hasFailed() && b.operand(1) &&
      !graph::getConstantElements(b.operand(1)))
    return b.done(splitByData(
        b, x, b.withLength(b.operand(1), b.node.outputs.size()), axis));
  if (b.hasFailed() ||
      mlir::failed(getSplitSizes(b, graph::getDims(x)[axis], sizes)))
    return mlir::failure();
  if (sizes.empty() && !b.node.outputs.empty())
    return b.done(splitByData(b, x, buildEqualSizes(b, x, axis), axis));
  return b.done(b.split(x, axis, sizes));
}

//===----------------------------------------------------------------------===//
// Padding and repetition
//===----------------------------------------------------------------------===//

/// The function body of ONNX assumes a shape of i64.
static LogicalResult importCenterCropPad(Binder &b) {
  for (int64_t size : graph::getConstantElements(b.operand(1))
                          .value_or(llvm::SmallVector<int64_t>()))
    if (size < 0)
      return b.fail("expected sizes of at least 0, but got " +
                    llvm::Twine(size));
  return b.expand({b.operand(0), b.cast(b.operand(1), b.builder.getI64Type())});
}

constexpr double kMost = double(int64_t(1) << 60);

/// Returns false if elements are added to a dim that has none, or that has none
/// left after negative pads.
static bool isRepeated(Binder &b, Value x, int64_t dim,
                       llvm::ArrayRef<int64_t> low,
                       llvm::ArrayRef<int64_t> high) {
  AffineExpr size = graph::getDims(x)[dim];
  if (!size || std::max(low[dim], high[dim]) <= 0)
    return true;
  int64_t removed =
      std::min<int64_t>(low[dim], 0) + std::min<int64_t>(high[dim], 0);
  return b.assumeNonNegative(graph::addExprs(size, b.expr(removed - 1)));
}

/// Pads and value are attributes before version 11, and operands since; axes
/// exist since version 18.
static LogicalResult importPad(Binder &b) {
  Value x = b.operand(0), fill;
  int64_t rank = b.getRank(x);
  auto mode = graph::symbolizePadMode(b.getString("mode", "constant"));
  if (!mode)
    return b.fail("expected mode to be constant, reflect, edge or wrap, but "
                  "got '" +
                  b.getString("mode", "") + "'");
  Value axesGiven = b.version() >= 18 ? b.operand(3) : Value();
  bool isData = (axesGiven && !graph::getConstantElements(axesGiven)) ||
                (b.version() >= 11 && b.operand(1) &&
                 !graph::getConstantElements(b.operand(1)));
  if (isData)
    return b.done(padByData(
        b, x, axesGiven ? b.operand(1) : b.withLength(b.operand(1), 2 * rank),
        axesGiven, b.operand(2), *mode));
  auto axes = axesGiven ? b.getConstantInts(3) : std::make_optional(iota(rank));
  auto pads = b.version() < 11 ? b.getInts("pads") : b.getConstantInts(1);
  if (!axes || !pads)
    return b.fail("expected pads, but got none");
  if (pads->size() != 2 * axes->size())
    return b.fail("expected " + llvm::Twine(2 * axes->size()) +
                  " pads, but got " + llvm::Twine(pads->size()));
  (void)b.normalizeAxes(*axes, rank); // each axis once
  llvm::SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    int64_t at = b.normalizeAxis(axis, rank);
    if (b.hasFailed())
      return mlir::failure();
    low[at] = (*pads)[i];
    high[at] = (*pads)[axes->size() + i];
    // Sums with a size must not overflow.
    if (std::max(std::abs(double(low[at])), std::abs(double(high[at]))) > kMost)
      return b.fail("expected pads of at most 2^60, but got " +
                    llvm::Twine(low[at]) + " and " + llvm::Twine(high[at]));
    if (*mode != graph::PadMode::Constant && !isRepeated(b, x, at, low, high))
      return b.fail("expected elements to pad with, but none are left");
  }
  llvm::SmallVector<Value> operands{x};
  if (b.version() < 11 && b.getFloat("value", 0.0) != 0.0)
    fill = b.scalar(b.getElementType(x), b.getFloat("value", 0.0));
  else if (b.version() >= 11)
    fill = b.operand(2);
  if (fill && *mode == graph::PadMode::Constant)
    operands.push_back(b.reshape(fill, {}));
  auto modeAttr = graph::PadModeAttr::get(b.builder.getContext(), *mode);
  return b.done(b.create<graph::PadOp>(
      operands, {b.attr("low", low), b.attr("high", high),
                 b.attr("mode", mlir::Attribute(modeAttr))}));
}

/// [d, e] is reshaped to [1, d, 1, e], broadcast to [r, d, s, e], and reshaped
/// to [r * d, s * e].
static LogicalResult importTile(Binder &b) {
  Value x = b.operand(0);
  Dims repeats = b.getSizes(b.withLength(b.operand(1), b.getRank(x)));
  Dims dims = graph::getDims(x), apart, wide, result;
  if (b.hasFailed())
    return mlir::failure();
  if (repeats.size() != dims.size())
    return b.fail("expected " + llvm::Twine(dims.size()) +
                  " repeats, but got " + llvm::Twine(repeats.size()));
  for (auto [dim, repeat] : llvm::zip(dims, repeats)) {
    if (!graph::isNonNegative(repeat) && !b.assumeNonNegative(repeat))
      return b.fail("expected repeats >= 0");
    apart.append({b.expr(1), dim});
    wide.append({repeat, dim});
    result.push_back(graph::mulExprs(repeat, dim));
  }
  return b.done(b.reshape(b.broadcastTo(b.reshape(x, apart), wide), result));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static LogicalResult importDepthToSpace(Binder &b) {
  Value x = b.operand(0);
  Dims d = graph::getDims(x);
  int64_t size = b.getInt("blocksize", 0);
  llvm::StringRef mode = b.getString("mode", "DCR");
  if (d.size() != 4 || size < 1 || size > 65536 ||
      (mode != "DCR" && mode != "CRD"))
    return b.fail("expected a 4-D input, a blocksize of at least 1 and mode "
                  "DCR or CRD");
  AffineExpr block = b.expr(size);
  AffineExpr depth = Arithmetic(b).quotient(d[1], size * size);
  if (!depth)
    return b.fail("expected channels divisible by blocksize^2, but got " +
                  graph::toString(d));
  Value apart =
      mode == "DCR"
          ? b.transpose(b.reshape(x, {d[0], block, block, depth, d[2], d[3]}),
                        {0, 3, 4, 1, 5, 2})
          : b.transpose(b.reshape(x, {d[0], depth, block, block, d[2], d[3]}),
                        {0, 1, 4, 2, 5, 3});
  return b.done(b.reshape(apart, {d[0], depth, graph::mulExprs(d[2], block),
                                  graph::mulExprs(d[3], block)}));
}

static LogicalResult importSpaceToDepth(Binder &b) {
  Value x = b.operand(0);
  Dims d = graph::getDims(x);
  int64_t size = b.getInt("blocksize", 0);
  llvm::StringRef mode = b.getString("mode", "DCR");
  if (d.size() != 4 || size < 1 || size > 65536 ||
      (mode != "DCR" && mode != "CRD"))
    return b.fail("expected a 4-D input, a blocksize of at least 1 and mode "
                  "DCR or CRD");
  AffineExpr block = b.expr(size);
  AffineExpr high = Arithmetic(b).quotient(d[2], size);
  AffineExpr wide = Arithmetic(b).quotient(d[3], size);
  if (!high || !wide)
    return b.fail("expected spatial dims divisible by blocksize, but got " +
                  graph::toString(d));
  Value apart = b.reshape(x, {d[0], d[1], high, block, wide, block});
  apart = mode == "DCR" ? b.transpose(apart, {0, 3, 5, 1, 2, 4})
                        : b.transpose(apart, {0, 1, 3, 5, 2, 4});
  return b.done(b.reshape(
      apart, {d[0], graph::mulExprs(d[1], b.expr(size * size)), high, wide}));
}

static LogicalResult importTrilu(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  bool upper = b.getInt("upper", 1) != 0;
  if (rank < 2)
    return b.fail("expected an input of at least 2 dims, but got " +
                  llvm::Twine(rank) + "-D");
  if (b.operand(1) && !graph::getConstantElements(b.operand(1))) {
    // The diagonal is dynamic.
    Value k = b.reshape(b.operand(1), {});
    Value distance =
        a.sub(a.iota(x, rank - 1), b.unsqueeze(a.iota(x, rank - 2), {1}));
    Value kept = upper ? a.greaterEqual(distance, k) : a.lessEqual(distance, k);
    return b.done(a.select(kept, x, 0.0));
  }
  auto k = b.operand(1) ? b.getConstantInt(1) : std::make_optional<int64_t>(0);
  if (!k)
    return mlir::failure();
  return b.done(
      b.create<graph::TriluOp>(x, {b.attr("upper", upper), b.attr("k", *k)}));
}

void adze::importer::addDataMovementOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(), {
                              {"CenterCropPad", 18, 2, importCenterCropPad},
                              {"Concat", 1, 1, importConcat},
                              {"DepthToSpace", 1, 1, importDepthToSpace},
                              {"Expand", 8, 2, importExpand},
                              {"Flatten", 1, 1, importFlatten},
                              {"Pad", 2, 1, importPad},
                              {"Reshape", 1, 1, importReshape},
                              {"SpaceToDepth", 1, 1, importSpaceToDepth},
                              {"Split", 2, 1, importSplit},
                              {"Squeeze", 1, 1, importSqueeze},
                              {"Tile", 6, 2, importTile},
                              {"Transpose", 1, 1, importTranspose},
                              {"Trilu", 14, 1, importTrilu},
                              {"Unsqueeze", 1, 1, importUnsqueeze},
                          });
}
