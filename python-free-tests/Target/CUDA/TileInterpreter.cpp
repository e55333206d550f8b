// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The interpreter: values are arrays of numbers, and operations are loops over
// them.
#include "TileInterpreter.h"
#include "Dialect/Host/IR/Host.h"
#include "TileViews.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace adze::test {

namespace {

class Interpreter {
public:
  Interpreter(tile::KernelOp kernel, MutableArrayRef<Memory> arguments,
              ArrayRef<int64_t> symbols)
      : kernel(kernel), symbols(symbols) {
    for (auto [arg, memory] :
         llvm::zip_equal(kernel.getBody().getArguments(), arguments)) {
      View view{&memory, memory.shape, {}, 0, bool(memory.map)};
      view.strides.resize(memory.shape.size());
      int64_t stride = 1;
      for (int64_t d = memory.shape.size() - 1; d >= 0; --d) {
        view.strides[d] = stride;
        stride *= memory.shape[d];
      }
      views[arg] = view;
    }
  }
  int64_t programs() {
    program = 0;
    counting = true;
    runBlock(kernel.getBody().front());
    counting = false;
    return total;
  }
  int64_t index(OpFoldResult f) {
    if (auto c = getConstantIntValue(f))
      return *c;
    return values[cast<Value>(f)].i[0];
  }
  bool run(int64_t id) {
    program = id;
    values.clear();
    runBlock(kernel.getBody().front());
    return ok;
  }

  std::set<uint64_t> *faults = nullptr;

private:
  void runBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (!ok ||
          (counting && isa<tile::LoadOp, tile::StoreOp, scf::ForOp,
                           tile::GatherOp, tile::ScatterOp, tile::CheckOp>(op)))
        return;
      runOp(op);
    }
  }
  void runOp(Operation &op);
  bool runView(Operation &op);
  bool runTileOp(Operation &op);
  void runLoad(tile::LoadOp op);
  void runStore(tile::StoreOp op);
  void runGather(tile::GatherOp op);
  void runScatter(tile::ScatterOp op);
  SmallVector<int64_t> place(ArrayRef<OpFoldResult> offsets,
                             ArrayRef<int64_t> dims, ArrayRef<int64_t> steps,
                             ArrayRef<int64_t> at);
  void runDot(tile::DotOp op);
  void runCheck(tile::CheckOp op) {
    for (int64_t position : values[op.getPositions()].i)
      if (uint64_t(position) >= uint64_t(values[op.getExtent()].i[0]))
        faults->insert(op.getFault());
  }
  void runReduce(tile::ReduceOp op);
  void runScan(tile::ScanOp op);
  void runSize(host::SizeOp op);
  void runFor(scf::ForOp op);
  bool runElementwise(Operation &op);
  Number make(Type type) {
    Number n;
    Type element = getElementTypeOrSelf(type);
    if (auto t = dyn_cast<RankedTensorType>(type))
      n.shape.assign(t.getShape().begin(), t.getShape().end());
    n.isFloat = isa<FloatType>(element);
    n.bits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
    n.f.resize(n.isFloat ? n.count() : 0);
    n.i.resize(n.isFloat ? 0 : n.count());
    return n;
  }
  static double pick(const Number &n, int64_t i) {
    return n.isFloat ? n.f[n.f.size() == 1 ? 0 : i] : 0;
  }

  tile::KernelOp kernel;
  ArrayRef<int64_t> symbols;
  llvm::DenseMap<Value, Number> values;
  llvm::DenseMap<Value, View> views;
  int64_t program = 0, total = 1;
  bool counting = false, ok = true;
};

void forEach(ArrayRef<int64_t> shape,
             llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> f) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    f(at, i);
    for (int64_t d = shape.size() - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
}

int64_t linear(ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
  int64_t n = 0;
  for (auto [s, i] : llvm::zip_equal(shape, at))
    n = n * s + i;
  return n;
}

/// Sign-extends an integer of `bits` bits.
int64_t wrap(int64_t v, unsigned bits) {
  return bits >= 64 ? v : int64_t(uint64_t(v) << (64 - bits)) >> (64 - bits);
}

/// Sets element i to that of memory, or to the pad outside of it.
void read(Number &n, int64_t i, const View &view, ArrayRef<int64_t> where,
          std::optional<TypedAttr> pad) {
  int64_t p = view.locate(where);
  if (n.isFloat)
    n.f[i] = p >= 0 ? view.memory->floats[p]
             : pad  ? cast<FloatAttr>(*pad).getValueAsDouble()
                    : 0;
  else
    n.i[i] = p >= 0 ? view.memory->ints[p]
             : pad  ? cast<IntegerAttr>(*pad).getValue().getSExtValue()
                    : 0;
}

/// Stores element i, which is dropped outside of the memory.
void write(const Number &n, int64_t i, const View &view,
           ArrayRef<int64_t> where) {
  int64_t p = view.locate(where);
  if (p >= 0 && n.isFloat)
    view.memory->floats[p] = n.f[i];
  else if (p >= 0)
    view.memory->ints[p] = n.i[i];
}

SmallVector<int64_t> Interpreter::place(ArrayRef<OpFoldResult> offsets,
                                        ArrayRef<int64_t> dims,
                                        ArrayRef<int64_t> steps,
                                        ArrayRef<int64_t> at) {
  SmallVector<int64_t> where;
  for (OpFoldResult f : offsets)
    where.push_back(index(f));
  for (auto [d, step, k] : llvm::zip_equal(dims, steps, at))
    if (d >= 0)
      where[d] += k * step;
  return where;
}

void Interpreter::runLoad(tile::LoadOp op) {
  Number n = make(op.getResult().getType());
  auto dims = op.getMemDims(), steps = op.getSteps();
  auto offsets = op.getMixedOffsets();
  forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    read(n, i, views[op.getMemref()], place(offsets, dims, steps, at),
         op.getPad());
  });
  values[op.getResult()] = n;
}

void Interpreter::runStore(tile::StoreOp op) {
  Number &n = values[op.getValue()];
  auto dims = op.getMemDims(), steps = op.getSteps();
  auto offsets = op.getMixedOffsets();
  forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    write(n, i, views[op.getMemref()], place(offsets, dims, steps, at));
  });
}

void Interpreter::runGather(tile::GatherOp op) {
  Number n = make(op.getResult().getType()), &indices = values[op.getIndices()];
  auto offsets = op.getMixedOffsets();
  auto steps = op.getSteps();
  forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    SmallVector<int64_t> where = place(offsets, op.getDims(), steps, at);
    where[op.getAlong()] += indices.i[i];
    read(n, i, views[op.getMemref()], where, op.getPad());
  });
  values[op.getResult()] = n;
}

void Interpreter::runDot(tile::DotOp op) {
  Number n = values[op.getAcc()];
  Number &a = values[op.getLhs()], &b = values[op.getRhs()];
  int64_t m = a.shape[0], k = a.shape[1], c = b.shape[1];
  auto getOperand = [](Number &operand, int64_t i, Type type) {
    return type.isUnsignedInteger()
               ? int64_t(unsignedOf(operand.i[i], operand.bits))
               : operand.i[i];
  };
  tile::ProductAttr types = op.getProduct();
  for (int64_t x = 0; x < m; ++x)
    for (int64_t y = 0; y < c; ++y)
      for (int64_t z = 0; z < k; ++z) {
        if (n.isFloat)
          n.f[x * c + y] += a.f[x * k + z] * b.f[z * c + y];
        else
          n.i[x * c + y] = wrap(
              n.i[x * c + y] + getOperand(a, x * k + z, types.getLhs()) *
                                   getOperand(b, z * c + y, types.getRhs()),
              n.bits);
      }
  values[op.getResult()] = n;
}

/// Combines element i of `s` with element p of `n`, or sets that if it is the
/// `first` one.
void combine(tile::ReduceKind kind, Number &n, int64_t p, const Number &s,
             int64_t i, bool first) {
  using K = tile::ReduceKind;
  if (n.isFloat) {
    double x = n.f[p], y = s.f[i];
    bool nan = std::isnan(x) || std::isnan(y);
    n.f[p] = first            ? y
             : kind == K::add ? x + y
             : kind == K::mul ? x * y
             : nan            ? NAN
             : kind == K::max ? std::max(x, y)
                              : std::min(x, y);
    return;
  }
  int64_t x = n.i[p], y = s.i[i];
  uint64_t ux = unsignedOf(x, n.bits), uy = unsignedOf(y, n.bits);
  switch (kind) {
  case K::add:
    x = wrap(x + y, n.bits);
    break;
  case K::mul:
    x = wrap(x * y, n.bits);
    break;
  case K::max:
    x = std::max(x, y);
    break;
  case K::min:
    x = std::min(x, y);
    break;
  case K::umax:
    x = ux > uy ? x : y;
    break;
  case K::umin:
    x = ux < uy ? x : y;
    break;
  case K::and_:
    x &= y;
    break;
  case K::or_:
    x |= y;
    break;
  }
  n.i[p] = first ? y : x;
}

void Interpreter::runScatter(tile::ScatterOp op) {
  Number &n = values[op.getValue()], &indices = values[op.getIndices()];
  auto offsets = op.getMixedOffsets();
  SmallVector<int64_t> steps(n.shape.size(), 1);
  forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    SmallVector<int64_t> where = place(offsets, op.getDims(), steps, at);
    where[op.getAlong()] += indices.i[i];
    const View &view = views[op.getMemref()];
    if (!op.getCombine())
      return write(n, i, view, where);
    Number old = make(op.getValue().getType());
    read(old, i, view, where, {});
    combine(*op.getCombine(), old, i, n, i, /*first=*/false);
    write(old, i, view, where);
  });
}

void Interpreter::runReduce(tile::ReduceOp op) {
  Number &s = values[op.getSource()];
  Number n = make(op.getResult().getType());
  std::vector<bool> seen(n.count());
  forEach(s.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    SmallVector<int64_t> to(at);
    to.erase(to.begin() + op.getDim());
    int64_t p = linear(n.shape, to);
    combine(op.getKind(), n, p, s, i, !seen[p]);
    seen[p] = true;
  });
  values[op.getResult()] = n;
}

/// Scans sums, whose neutral element is 0, and others that are not exclusive.
void Interpreter::runScan(tile::ScanOp op) {
  Number &s = values[op.getSource()];
  Number n = make(op.getResult().getType());
  int64_t distance = 1;
  for (int64_t size : ArrayRef(s.shape).drop_front(op.getDim() + 1))
    distance *= size;
  ok &= !op.getExclusive() || op.getKind() == tile::ReduceKind::add;
  forEach(s.shape, [&](ArrayRef<int64_t> at, int64_t i) {
    int64_t place = at[op.getDim()], from = i - distance;
    if (place > 0)
      combine(op.getKind(), n, i, n, from, /*first=*/true);
    if (!op.getExclusive())
      combine(op.getKind(), n, i, s, i, place == 0);
    else if (place > 0)
      combine(op.getKind(), n, i, s, from, /*first=*/false);
  });
  values[op.getResult()] = n;
}

bool Interpreter::runTileOp(Operation &op) {
  if (auto x = dyn_cast<tile::LoadOp>(op))
    return runLoad(x), true;
  if (auto x = dyn_cast<tile::StoreOp>(op))
    return runStore(x), true;
  if (auto x = dyn_cast<tile::GatherOp>(op))
    return runGather(x), true;
  if (auto x = dyn_cast<tile::ScatterOp>(op))
    return runScatter(x), true;
  if (auto x = dyn_cast<tile::DotOp>(op))
    return runDot(x), true;
  if (auto x = dyn_cast<tile::ReduceOp>(op))
    return runReduce(x), true;
  if (auto x = dyn_cast<tile::ScanOp>(op))
    return runScan(x), true;
  if (auto x = dyn_cast<tile::CheckOp>(op))
    return runCheck(x), true;
  if (auto x = dyn_cast<tensor::ExtractOp>(op)) // of a tile without dims
    return values[x.getResult()] = values[x.getTensor()], true;
  if (auto x = dyn_cast<tile::ProgramIdOp>(op)) {
    int64_t left = program;
    total = 1;
    for (auto [grid, id] : llvm::zip_equal(x.getGrid(), x.getIds())) {
      int64_t extent = values[grid].i[0];
      total *= extent;
      Number n = make(id.getType());
      n.i[0] = extent ? left % extent : 0;
      left = extent ? left / extent : 0;
      values[id] = n;
    }
    return true;
  }
  Number n;
  if (op.getNumResults())
    n = make(op.getResult(0).getType());
  if (auto x = dyn_cast<tile::BroadcastOp>(op)) {
    Number &s = values[x.getSource()];
    forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
      SmallVector<int64_t> from;
      if (!s.shape.empty())
        for (int64_t d : x.getDimsAttr().asArrayRef())
          from.push_back(at[d]);
      int64_t p = s.shape.empty() ? 0 : linear(s.shape, from);
      n.isFloat ? void(n.f[i] = s.f[p]) : void(n.i[i] = s.i[p]);
    });
  } else if (auto x = dyn_cast<tile::IotaOp>(op)) {
    forEach(n.shape,
            [&](ArrayRef<int64_t> at, int64_t i) { n.i[i] = at[x.getDim()]; });
  } else if (auto x = dyn_cast<tile::ReshapeOp>(op)) {
    n.f = values[x.getSource()].f, n.i = values[x.getSource()].i;
  } else if (auto x = dyn_cast<tile::BitcastOp>(op)) {
    Number &s = values[x.getSource()];
    Type element = x.getElement();
    unsigned width = element.getIntOrFloatBitWidth();
    forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
      llvm::APInt bits(width,
                       uint64_t(s.i[i / n.shape.back()]) >> (at.back() * width),
                       /*isSigned=*/false, /*implicitTrunc=*/true);
      if (auto type = dyn_cast<FloatType>(element)) {
        llvm::APFloat value(type.getFloatSemantics(), bits);
        n.f[i] = value.convertToDouble();
      } else {
        n.i[i] = bits.getSExtValue();
      }
    });
  } else if (auto x = dyn_cast<tile::TransposeOp>(op)) {
    Number &s = values[x.getSource()];
    forEach(n.shape, [&](ArrayRef<int64_t> at, int64_t i) {
      SmallVector<int64_t> from(at.size());
      for (auto [d, p] : llvm::enumerate(x.getPerm()))
        from[p] = at[d];
      int64_t p = linear(s.shape, from);
      n.isFloat ? void(n.f[i] = s.f[p]) : void(n.i[i] = s.i[p]);
    });
  } else {
    return false;
  }
  values[op.getResult(0)] = n;
  return true;
}

bool Interpreter::runView(Operation &op) {
  if (!op.getNumResults() || !isa<MemRefType>(op.getResult(0).getType()))
    return false;
  View from = views[op.getOperand(0)], to = from;
  if (isa<memref::CastOp>(op)) {
  } else if (auto x = dyn_cast<tile::ViewOp>(op)) {
    to.source = std::make_shared<View>(from);
    to.map =
        cast<MemRefType>(x.getResult().getType()).getLayout().getAffineMap();
    to.shape.clear(), to.strides.clear();
    for (OpFoldResult size : x.getMixedSizes())
      to.shape.push_back(index(size)), to.strides.push_back(0);
  } else if (auto x = dyn_cast<memref::CollapseShapeOp>(op)) {
    to.shape.clear(), to.strides.clear();
    for (auto group : x.getReassociationIndices()) {
      int64_t n = 1;
      for (int64_t d : group)
        n *= from.shape[d];
      to.shape.push_back(n), to.strides.push_back(from.strides[group.back()]);
    }
  } else if (auto x = dyn_cast<memref::ExpandShapeOp>(op)) {
    to.shape.clear(), to.strides.clear();
    for (OpFoldResult f : x.getMixedOutputShape())
      to.shape.push_back(index(f));
    to.strides.resize(to.shape.size());
    for (auto [d, group] : llvm::enumerate(x.getReassociationIndices())) {
      int64_t stride = from.strides[d];
      for (int64_t k : llvm::reverse(group)) {
        to.strides[k] = stride;
        stride *= to.shape[k];
      }
    }
  } else if (auto x = dyn_cast<memref::SubViewOp>(op)) {
    to.shape.clear(), to.strides.clear();
    auto dropped = x.getDroppedDims();
    for (auto [d, o, s, t] : llvm::enumerate(
             x.getMixedOffsets(), x.getMixedSizes(), x.getMixedStrides())) {
      to.offset += index(o) * from.strides[d];
      if (dropped.test(d))
        continue;
      to.shape.push_back(index(s)),
          to.strides.push_back(from.strides[d] * index(t));
    }
  } else {
    return false;
  }
  views[op.getResult(0)] = to;
  return true;
}

bool Interpreter::runElementwise(Operation &op) {
  if (op.getNumResults() != 1 || !op.getNumOperands())
    return false;
  Number n = make(op.getResult(0).getType());
  bool known = true;
  for (int64_t k = 0, e = n.count(); k < e && known; ++k) {
    SmallVector<double> f(3, 0);
    SmallVector<int64_t> i(3, 0);
    for (auto [o, v] : llvm::enumerate(op.getOperands())) {
      Number &x = values[v];
      int64_t at = x.count() == 1 ? 0 : k;
      x.isFloat ? void(f[o] = x.f[at]) : void(i[o] = x.i[at]);
    }
    double rf = 0;
    int64_t ri = 0;
    f.resize(std::max<size_t>(3, op.getNumOperands()));
    // `u` requests the types of existing operands.
    known = compute(op, f, ArrayRef<int64_t>(i).take_front(op.getNumOperands()),
                    rf, ri);
    n.isFloat ? void(n.f[k] = rf) : void(n.i[k] = wrap(ri, n.bits));
  }
  values[op.getResult(0)] = n;
  return known;
}

void Interpreter::runFor(scf::ForOp op) {
  int64_t low = values[op.getLowerBound()].i[0],
          high = values[op.getUpperBound()].i[0],
          step = values[op.getStep()].i[0];
  SmallVector<Number> carried;
  for (Value v : op.getInitArgs())
    carried.push_back(values[v]);
  for (int64_t i = low; i < high && ok; i += step) {
    Number n = make(op.getInductionVar().getType());
    n.i[0] = i;
    values[op.getInductionVar()] = n;
    for (auto [arg, v] : llvm::zip_equal(op.getRegionIterArgs(), carried))
      values[arg] = v;
    runBlock(*op.getBody());
    for (auto [v, yielded] : llvm::zip_equal(carried, op.getYieldedValues()))
      v = values[yielded];
  }
  for (auto [result, v] : llvm::zip_equal(op.getResults(), carried))
    values[result] = v;
}

void Interpreter::runSize(host::SizeOp op) {
  Builder b(op.getContext());
  SmallVector<Attribute> given, size;
  for (int64_t symbol : symbols)
    given.push_back(b.getIndexAttr(symbol));
  given.resize(op.getValue().getNumSymbols(), b.getIndexAttr(0));
  (void)op.getValue().constantFold(given, size);
  Number n = make(op.getResult().getType());
  n.i[0] = cast<IntegerAttr>(size.front()).getInt();
  values[op.getResult()] = n;
}

void Interpreter::runOp(Operation &op) {
  Attribute constant;
  if (matchPattern(&op, m_Constant(&constant))) {
    Number n = make(op.getResult(0).getType());
    auto dense = dyn_cast<DenseElementsAttr>(constant);
    for (int64_t k = 0; k < n.count(); ++k) {
      if (n.isFloat)
        n.f[k] = dense ? dense.getValues<APFloat>()[k].convertToDouble()
                       : cast<FloatAttr>(constant).getValueAsDouble();
      else
        n.i[k] = dense ? dense.getValues<APInt>()[k].getSExtValue()
                       : cast<IntegerAttr>(constant).getValue().getSExtValue();
    }
    values[op.getResult(0)] = n;
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    Number n = make(op.getResult(0).getType());
    n.i[0] = views[dim.getSource()].shape[*dim.getConstantIndex()];
    values[op.getResult(0)] = n;
  } else if (auto size = dyn_cast<host::SizeOp>(op)) {
    runSize(size);
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    SmallVector<int64_t> at;
    for (Value v : load.getIndices())
      at.push_back(values[v].i[0]);
    View &view = views[load.getMemRef()];
    Number n = make(op.getResult(0).getType());
    int64_t p = view.locate(at);
    n.isFloat ? void(n.f[0] = view.memory->floats[p])
              : void(n.i[0] = view.memory->ints[p]);
    values[op.getResult(0)] = n;
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    SmallVector<int64_t> at;
    for (Value v : store.getIndices())
      at.push_back(values[v].i[0]);
    View &view = views[store.getMemRef()];
    Number &n = values[store.getValueToStore()];
    int64_t p = view.locate(at);
    n.isFloat ? void(view.memory->floats[p] = n.f[0])
              : void(view.memory->ints[p] = n.i[0]);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    runFor(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Region &taken = values[branch.getCondition()].i[0] & 1
                        ? branch.getThenRegion()
                        : branch.getElseRegion();
    if (taken.empty())
      return;
    runBlock(taken.front());
    for (auto [result, v] : llvm::zip_equal(
             branch.getResults(), taken.front().getTerminator()->getOperands()))
      values[result] = values[v];
  } else if (!runView(op) && !runTileOp(op) && !runElementwise(op)) {
    llvm::errs() << "interpreter: no rule for '" << op.getName() << "'\n";
    ok = false;
  }
}

} // namespace

bool interpret(tile::KernelOp kernel, MutableArrayRef<Memory> arguments,
               ArrayRef<int64_t> symbols, std::set<uint64_t> &faults) {
  Interpreter interpreter(kernel, arguments, symbols);
  interpreter.faults = &faults;
  int64_t programs = interpreter.programs();
  for (int64_t i = 0; i < programs; ++i)
    if (!interpreter.run(i))
      return false;
  return true;
}

ProgramCounts countPrograms(tile::KernelOp kernel,
                            MutableArrayRef<Memory> arguments,
                            ArrayRef<int64_t> symbols) {
  Interpreter interpreter(kernel, arguments, symbols);
  ProgramCounts counts{interpreter.programs()};
  if (kernel.isOrdered())
    counts.steps = interpreter.index(kernel.getProgramId().getGrid().back());
  return counts;
}

} // namespace adze::test
