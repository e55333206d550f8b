// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Object detectors process one class after the other: the same kernels, for a
// different number of boxes per class. Networks that concatenate and split
// channels convolve slices of tensors of different sizes. A tensor that is
// split into thousands of slices has the same kernel for each, at another
// offset. A forest with one node per tree has the same kernels for each, with a
// different number of nodes.
#include "EqualKernels.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Tile.h"
#include "KernelSlices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>
#include <numeric>
#include <set>

using namespace mlir;

namespace adze {

//===----------------------------------------------------------------------===//
// Equal kernels
//===----------------------------------------------------------------------===//

static bool refersToNothing(Operation *kernel) {
  auto uses = SymbolTable::getSymbolUses(kernel);
  return uses && uses->empty();
}

/// Returns true if only the kernel determines its functions.
static bool isAlone(Operation *kernel, SymbolTable &symbols, StringRef name) {
  return refersToNothing(kernel) && !symbols.lookup((name + "_programs").str());
}

namespace {
/// The symbols of a kernel in order of first appearance; with `takesQuotients`,
/// quotients of these, and multiples of quotients, are separate symbols, such
/// as the sizes of images that a network halves and doubles. Equal sizes stay
/// equal.
class SymbolOrder {
public:
  explicit SymbolOrder(bool takesQuotients) : takesQuotients(takesQuotients) {}

  /// Sets the symbols of the clone to these numbers.
  void renumber(Operation *clone);
  ArrayRef<AffineExpr> get() const { return order; }
  bool hasQuotients() const {
    return !llvm::all_of(order, llvm::IsaPred<AffineSymbolExpr>);
  }

private:
  bool isSymbol(AffineExpr expr) const;
  AffineExpr renumber(AffineExpr expr);
  AffineMapAttr renumber(AffineMapAttr attr);

  bool takesQuotients;
  SmallVector<AffineExpr> order;
};
} // namespace

bool SymbolOrder::isSymbol(AffineExpr expr) const {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !takesQuotients)
    return isa<AffineSymbolExpr>(expr);
  if (expr.getKind() == AffineExprKind::Mul)
    return isa<AffineConstantExpr>(binary.getRHS()) &&
           isSymbol(binary.getLHS());
  return expr.getKind() != AffineExprKind::Add;
}

AffineExpr SymbolOrder::renumber(AffineExpr expr) {
  if (isa<AffineConstantExpr>(expr))
    return expr;
  if (!isSymbol(expr)) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    AffineExpr lhs = renumber(binary.getLHS()), rhs = renumber(binary.getRHS());
    return getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  }
  auto *found = llvm::find(order, expr);
  unsigned number = found - order.begin();
  if (found == order.end())
    order.push_back(expr);
  return getAffineSymbolExpr(number, expr.getContext());
}

AffineMapAttr SymbolOrder::renumber(AffineMapAttr attr) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : attr.getValue().getResults())
    results.push_back(renumber(result));
  return AffineMapAttr::get(
      AffineMap::get(0, order.size(), results, attr.getContext()));
}

void SymbolOrder::renumber(Operation *clone) {
  auto function = cast<FunctionOpInterface>(clone);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto dims = function.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr))
      function.setArgAttr(i, host::dimsAttr, renumber(dims));
  clone->walk(
      [&](host::SizeOp op) { op.setValueAttr(renumber(op.getValueAttr())); });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// A constant in a kernel that may be replaced by a symbol: a static offset of
/// a load or store, an operand of an op on indices, or the rows of a table.
struct Number {
  Operation *op;  // the kernel, for the rows of an argument
  unsigned index; // of the static offset, operand or argument
  int64_t value;
};
} // namespace

/// Returns true if the kernel reads the argument only at single rows with
/// computed indices, so that the number of rows is in no loop and no tile.
static bool isTable(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  return type && type.getRank() > 0 && type.hasStaticShape() &&
         type.getLayout().isIdentity() && !argument.use_empty() &&
         llvm::all_of(argument.getUsers(), [](Operation *user) {
           if (auto load = dyn_cast<tile::LoadOp>(user))
             return !llvm::is_contained(load.getMemDims(), 0);
           if (auto gather = dyn_cast<tile::GatherOp>(user))
             return gather.getAlong() == 0 &&
                    !llvm::is_contained(gather.getDims(), 0);
           return isa<memref::LoadOp>(user);
         });
}

static SmallVector<Number> getNumbers(Operation *op) {
  SmallVector<Number> numbers;
  auto kernel = dyn_cast<tile::KernelOp>(op);
  if (!kernel)
    return numbers;
  for (BlockArgument argument : kernel.getArguments())
    if (isTable(argument))
      numbers.push_back({kernel, argument.getArgNumber(),
                         cast<MemRefType>(argument.getType()).getDimSize(0)});
  auto addStatic = [&](Operation *op, ArrayRef<int64_t> values) {
    for (auto [index, value] : llvm::enumerate(values))
      if (!ShapedType::isDynamic(value))
        numbers.push_back({op, unsigned(index), value});
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      addStatic(op, load.getStaticOffsets());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      addStatic(op, store.getStaticOffsets());
    else if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp,
                 tile::BroadcastOp>(op))
      for (auto [index, operand] : llvm::enumerate(op->getOperands()))
        if (auto value = getConstantIntValue(operand);
            value && operand.getType().isIndex())
          numbers.push_back({op, unsigned(index), *value});
  });
  return numbers;
}

template <typename OpT>
static void setStaticOffset(OpT op, unsigned index, OpFoldResult offset) {
  SmallVector<OpFoldResult> all = op.getMixedOffsets();
  all[index] = offset;
  SmallVector<Value> values;
  SmallVector<int64_t> numbers;
  dispatchIndexOpFoldResults(all, values, numbers);
  op.getOffsetsMutable().assign(values);
  op.setStaticOffsets(numbers);
}

static void setOffset(const Number &at, OpFoldResult offset) {
  OpBuilder builder(at.op);
  if (auto load = dyn_cast<tile::LoadOp>(at.op))
    return setStaticOffset(load, at.index, offset);
  if (auto store = dyn_cast<tile::StoreOp>(at.op))
    return setStaticOffset(store, at.index, offset);
  at.op->setOperand(at.index, getValueOrCreateConstantIndexOp(
                                  builder, at.op->getLoc(), offset));
}

/// Makes the number of rows of an argument dynamic.
static void clearSize(tile::KernelOp kernel, unsigned index) {
  BlockArgument argument = kernel.getArgument(index);
  SmallVector<int64_t> shape(cast<MemRefType>(argument.getType()).getShape());
  shape.front() = ShapedType::kDynamic;
  setArgumentShape(kernel, index, shape);
}

/// Replaces a constant by one that is equal in all kernels of a form.
static void clear(const Number &at) {
  if (auto kernel = dyn_cast<tile::KernelOp>(at.op))
    return clearSize(kernel, at.index);
  setOffset(at, Builder(at.op->getContext()).getIndexAttr(0));
}

/// The value of a symbol with a known range.
static Value makeSize(OpBuilder &builder, Location loc, unsigned symbol,
                      ArrayRef<int64_t> range) {
  auto map = AffineMap::get(0, symbol + 1, builder.getAffineSymbolExpr(symbol),
                            builder.getContext());
  auto size = host::SizeOp::create(builder, loc, builder.getIndexType(),
                                   AffineMapAttr::get(map));
  size->setAttr(tile::kRangeAttribute, builder.getDenseI64ArrayAttr(range));
  return size.getResult();
}

/// Replaces a number by a symbol with known least and greatest values and a
/// known divisor.
static void setSymbol(const Number &at, unsigned symbol,
                      ArrayRef<int64_t> range) {
  OpBuilder builder(at.op);
  auto getMap = [&](ArrayRef<AffineExpr> values) {
    return AffineMapAttr::get(
        AffineMap::get(0, symbol + 1, values, builder.getContext()));
  };
  AffineExpr value = builder.getAffineSymbolExpr(symbol);
  if (auto kernel = dyn_cast<tile::KernelOp>(at.op)) {
    SmallVector<AffineExpr> dims = {value};
    auto type = cast<MemRefType>(kernel.getArgument(at.index).getType());
    for (int64_t size : type.getShape().drop_front())
      dims.push_back(builder.getAffineConstantExpr(size));
    clearSize(kernel, at.index);
    kernel.setArgAttr(at.index, host::dimsAttr, getMap(dims));
    return;
  }
  setOffset(at, makeSize(builder, at.op->getLoc(), symbol, range));
}

static void eraseDead(Operation *kernel) {
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != kernel && isOpTriviallyDead(op))
      op->erase();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {
/// Kernels that differ in symbols, numbers and slices only.
struct Form {
  struct Member {
    StringRef name;
    Operation *kernel;
    SymbolOrder symbols;
    std::vector<int64_t> numbers;
    SmallVector<KernelSlice> slices;

    bool hasSlicesOf(const Member &other) const {
      return llvm::equal(slices, other.slices,
                         [](const KernelSlice &x, const KernelSlice &y) {
                           return x.size == y.size && x.begin == y.begin;
                         });
    }
  };
  std::vector<Member> members;
  std::set<std::vector<int64_t>> different; // of the numbers
};

/// Returns true if the kernel takes so long to compile that a shared one is
/// worthwhile, although it reads more of its symbols. Ops without uses do not
/// count, as the text of a kernel may lack them.
static bool isLarge(Operation *op) {
  constexpr size_t leastOps = 280;
  size_t numOps = 0;
  op->walk([&](Operation *inner) { numOps += !isOpTriviallyDead(inner); });
  return isa<tile::KernelOp>(op) && numOps >= leastOps;
}

class KernelForms {
public:
  explicit KernelForms(ModuleOp module) : symbols(module) {}

  void add(StringRef name);
  EqualKernels finish();

private:
  using Members = ArrayRef<const Form::Member *>;
  void addAliases(const Form &form);
  void makeShared(Members members);

  SymbolTable symbols;
  SmallVector<StringRef> names; // of all, in order
  llvm::DenseSet<StringRef> aliases;
  std::map<std::string, Form> forms; // by text
  EqualKernels result;
};
} // namespace

void KernelForms::add(StringRef name) {
  names.push_back(name);
  Operation *kernel = symbols.lookup(name);
  if (!kernel || !isa<FunctionOpInterface>(kernel) ||
      !isAlone(kernel, symbols, name))
    return;
  Operation *clone = kernel->clone();
  bool large = isLarge(kernel);
  Form::Member member{name, kernel, SymbolOrder(large), {}, {}};
  member.symbols.renumber(clone);
  if (large)
    member.slices = getSlices(cast<tile::KernelOp>(clone));
  for (const KernelSlice &slice : member.slices)
    takeSlice(cast<tile::KernelOp>(clone), slice, /*size=*/{},
              Builder(kernel).getIndexAttr(0));
  for (const Number &number : getNumbers(clone)) {
    member.numbers.push_back(number.value);
    clear(number);
  }
  eraseDead(clone);
  SymbolTable::setSymbolName(clone, "kernel");
  std::string text;
  llvm::raw_string_ostream os(text);
  clone->print(os, OpPrintingFlags().useLocalScope());
  clone->erase();
  Form &form = forms[text];
  form.different.insert(member.numbers);
  form.members.push_back(std::move(member));
}

/// Makes kernels with equal numbers aliases of the first one, unless it has
/// quotients or their slices differ. Kernels without symbols were compared as
/// graphs before.
void KernelForms::addAliases(const Form &form) {
  std::map<std::vector<int64_t>, SmallVector<const Form::Member *>> groups;
  for (const Form::Member &member : form.members)
    groups[member.numbers].push_back(&member);
  for (const auto &[numbers, members] : groups) {
    const Form::Member &first = *members.front();
    bool areAlike = llvm::all_of(members, [&](const Form::Member *member) {
      return member->hasSlicesOf(first);
    });
    // The first one computes its quotients, which differ in others.
    if (members.size() > 1 && (!areAlike || first.symbols.hasQuotients())) {
      makeShared(members);
      continue;
    }
    for (const Form::Member *member : llvm::drop_begin(members)) {
      if (member->symbols.get().empty())
        continue;
      KernelAlias alias{member->name, first.name, {}};
      for (auto [of, own] :
           llvm::zip_equal(first.symbols.get(), member->symbols.get()))
        alias.symbols.push_back(
            {cast<AffineSymbolExpr>(of).getPosition(), own});
      result.aliases.push_back(std::move(alias));
      aliases.insert(member->name);
    }
  }
}

namespace {
/// The symbols after a kernel's own that replace the differences between the
/// kernels that share it.
class SharedSymbols {
public:
  SharedSymbols(ArrayRef<const Form::Member *> members, unsigned numSymbols)
      : members(members), numSymbols(numSymbols) {}

  using Get = llvm::function_ref<int64_t(const Form::Member &)>;
  /// Calls `take` with a symbol and the least and greatest value and a divisor
  /// of the numbers, if they differ.
  void add(Get get,
           llvm::function_ref<void(unsigned, ArrayRef<int64_t>)> take) {
    SmallVector<int64_t> numbers;
    int64_t divisor = 0;
    for (const Form::Member *member : members) {
      numbers.push_back(get(*member));
      divisor = std::gcd(divisor, numbers.back());
    }
    int64_t min = *llvm::min_element(numbers),
            max = *llvm::max_element(numbers);
    if (min == max)
      return;
    unsigned symbol = numSymbols + values.size();
    values.push_back(std::move(numbers));
    take(symbol, {min, max, divisor});
  }

  void addTo(KernelAlias &alias, size_t member) const {
    MLIRContext *context = members[member]->kernel->getContext();
    for (auto [index, numbers] : llvm::enumerate(values))
      alias.symbols.push_back(
          {unsigned(numSymbols + index),
           getAffineConstantExpr(numbers[member], context)});
  }

private:
  ArrayRef<const Form::Member *> members;
  unsigned numSymbols;
  std::vector<SmallVector<int64_t>> values; // by symbol
};
} // namespace

/// Makes a kernel access a slice whose extent and start are symbols if they
/// differ.
static void shareSlice(tile::KernelOp kernel, size_t index,
                       const KernelSlice &slice, SharedSymbols &taken) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  AffineExpr size = builder.getAffineConstantExpr(slice.size);
  OpFoldResult begin = builder.getIndexAttr(slice.begin);
  taken.add([&](const Form::Member &of) { return of.slices[index].size; },
            [&](unsigned symbol, ArrayRef<int64_t>) {
              size = builder.getAffineSymbolExpr(symbol);
            });
  taken.add([&](const Form::Member &of) { return of.slices[index].begin; },
            [&](unsigned symbol, ArrayRef<int64_t> range) {
              begin = makeSize(builder, kernel.getLoc(), symbol, range);
            });
  takeSlice(kernel, slice, size, begin);
}

/// Creates a kernel with symbols, after its own, for the numbers that differ.
/// Properties of all their values are preserved, for example that loads are in
/// bounds.
void KernelForms::makeShared(Members members) {
  const Form::Member &first = *members.front();
  Operation *kernel = first.kernel->clone();
  SymbolOrder order(isLarge(kernel));
  order.renumber(kernel);
  SharedSymbols taken(members, order.get().size());
  for (auto [index, slice] : llvm::enumerate(first.slices))
    shareSlice(cast<tile::KernelOp>(kernel), index, slice, taken);
  SmallVector<Number> numbers = getNumbers(kernel);
  for (size_t i = 0; i < numbers.size(); ++i)
    taken.add([&](const Form::Member &of) { return of.numbers[i]; },
              [&](unsigned symbol, ArrayRef<int64_t> range) {
                setSymbol(numbers[i], symbol, range);
              });
  eraseDead(kernel);
  SymbolTable::setSymbolName(kernel, (first.name + "_anywhere").str());
  StringRef name = symbols.insert(kernel, Block::iterator(first.kernel));
  result.made.push_back(kernel);
  for (auto [index, member] : llvm::enumerate(members)) {
    KernelAlias alias{member->name, name, {}};
    for (auto [other, own] : llvm::enumerate(member->symbols.get()))
      alias.symbols.push_back({unsigned(other), own});
    taken.addTo(alias, index);
    result.aliases.push_back(std::move(alias));
    aliases.insert(member->name);
  }
}

EqualKernels KernelForms::finish() {
  // Fewer kernels keep their constants, which need no loads.
  constexpr size_t leastNumbers = 16;
  for (const auto &[text, form] : forms) {
    if (form.different.size() < leastNumbers) {
      addAliases(form);
      continue;
    }
    makeShared(llvm::to_vector(llvm::make_pointer_range(form.members)));
  }
  for (StringRef name : names)
    if (!aliases.contains(name))
      result.different.push_back(name);
  for (Operation *kernel : result.made)
    result.different.push_back(SymbolTable::getSymbolName(kernel));
  return std::move(result);
}

EqualKernels findEqualKernels(ModuleOp module, ArrayRef<StringRef> names) {
  KernelForms forms(module);
  for (StringRef name : names)
    forms.add(name);
  return forms.finish();
}

//===----------------------------------------------------------------------===//
// Symbols of kernels
//===----------------------------------------------------------------------===//

AffineExpr KernelAlias::getValue(AffineExpr symbol) const {
  unsigned position = cast<AffineSymbolExpr>(symbol).getPosition();
  for (auto [other, own] : symbols)
    if (other == position)
      return own;
  llvm_unreachable("the other kernel reads a symbol without a value");
}

std::optional<SmallVector<AffineExpr>> takeOwnSymbols(Operation *kernel) {
  if (!refersToNothing(kernel))
    return std::nullopt;
  SymbolOrder order(/*takesQuotients=*/false);
  order.renumber(kernel);
  return SmallVector<AffineExpr>(order.get());
}

} // namespace adze
