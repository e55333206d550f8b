// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Typical faults of passes: each changes one op to a legal one with another
// meaning.
#include "Faults.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <utility>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace property {

//===----------------------------------------------------------------------===//
// Changes of ops
//===----------------------------------------------------------------------===//

static bool swapOperands(Operation *op, unsigned i, unsigned j) {
  if (op->getNumOperands() <= std::max(i, j))
    return false;
  Value a = op->getOperand(i), b = op->getOperand(j);
  if (a == b || a.getType() != b.getType())
    return false;
  op->setOperand(i, b);
  op->setOperand(j, a);
  return true;
}

static bool flip(Operation *op, StringRef name) {
  auto flag = op->getAttrOfType<BoolAttr>(name);
  if (!flag)
    return false;
  op->setAttr(name, BoolAttr::get(op->getContext(), !flag.getValue()));
  return true;
}

/// Adds a tenth.
static bool scale(Operation *op, StringRef name) {
  auto number = op->getAttrOfType<FloatAttr>(name);
  if (!number || number.getValue().isZero())
    return false;
  op->setAttr(
      name, FloatAttr::get(number.getType(), number.getValueAsDouble() * 1.1));
  return true;
}

static bool add(Operation *op, StringRef name, int64_t step) {
  auto number = op->getAttrOfType<IntegerAttr>(name);
  if (!number)
    return false;
  op->setAttr(name, IntegerAttr::get(number.getType(), number.getInt() + step));
  return true;
}

static void setArray(Operation *op, StringRef name, ArrayRef<int64_t> values) {
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), values));
}

static SmallVector<int64_t> getArray(Operation *op, StringRef name) {
  auto array = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return array ? llvm::to_vector(array.asArrayRef()) : SmallVector<int64_t>();
}

/// Replaces the op by one with another name.
static bool rename(Operation *op, StringRef name,
                   ArrayRef<NamedAttribute> attributes) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(),
                       op->getResultTypes(), attributes);
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
  return true;
}

static bool rename(Operation *op, StringRef from, StringRef to) {
  return op->getName().getStringRef() == from &&
         rename(op, to, llvm::to_vector(op->getAttrs()));
}

static bool replaceBy(Operation *op, Value value) {
  if (value.getType() != op->getResult(0).getType())
    return false;
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Of graph ops
//===----------------------------------------------------------------------===//

static bool swapDifference(Operation *op) {
  return isa<SubOp, DivOp, PowOp, ModOp>(op) && swapOperands(op, 0, 1);
}

static bool dropAddend(Operation *op) {
  return isa<AddOp>(op) && replaceBy(op, op->getOperand(0));
}

static bool swapAxes(Operation *op) {
  if (!isa<TransposeOp>(op))
    return false;
  SmallVector<int64_t> perm = getArray(op, "perm");
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (size_t i = 0; i < perm.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!type.isDynamicDim(i) && type.getDimSize(i) > 1 &&
          type.getDimSize(i) == type.getDimSize(j)) {
        std::swap(perm[i], perm[j]);
        setArray(op, "perm", perm);
        return true;
      }
  return false;
}

static bool loosenComparison(Operation *op) {
  return rename(op, "graph.less", "graph.less_equal") ||
         rename(op, "graph.greater_equal", "graph.greater");
}

static bool shiftSlice(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice || slice.getBegin())
    return false;
  Dims starts = slice.getStartExprs();
  for (auto [start, step] : llvm::zip(starts, slice.getSteps())) {
    auto number = getConstant(start);
    if (number == 0 || step < 0)
      continue;
    start = getAffineConstantExpr(number.value_or(1) - 1, op->getContext());
    slice.setStartsAttr(SliceOp::makeStarts(op->getContext(), starts));
    return true;
  }
  return false;
}

/// Swaps begin and end if they differ.
static bool swapPads(Operation *op) {
  SmallVector<int64_t> pads = getArray(op, "pads");
  if (isa<PadOp>(op)) {
    SmallVector<int64_t> low = getArray(op, "low"), high = getArray(op, "high");
    setArray(op, "low", high);
    setArray(op, "high", low);
    return low != high;
  }
  if (pads.empty())
    return false;
  SmallVector<int64_t> swapped = pads;
  std::rotate(swapped.begin(), swapped.begin() + pads.size() / 2,
              swapped.end());
  setArray(op, "pads", swapped);
  return pads != swapped;
}

/// Changes one of the greatest elements by a hundredth.
static bool changeWeight(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto elements =
      constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.empty() || !elements.getElementType().isF32())
    return false;
  SmallVector<float> numbers(elements.getValues<float>());
  auto it =
      std::max_element(numbers.begin(), numbers.end(), [](float a, float b) {
        return std::fabs(a) < std::fabs(b);
      });
  *it *= 1.01f;
  op->setAttr("value", DenseElementsAttr::get(elements.getType(),
                                              ArrayRef<float>(numbers)));
  return true;
}

static bool moveAxis(Operation *op) {
  if (!isa<SoftmaxOp, LogSoftmaxOp, CumsumOp>(op) ||
      cast<RankedTensorType>(op->getOperand(0).getType()).getRank() < 2)
    return false;
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return add(op, "axis", axis.getInt() > 0 ? -1 : 1);
}

/// Converts a result to f16 and back.
static bool loseBits(Operation *op) {
  if (!isa<MulOp, TanhOp, ExpOp, SigmoidOp>(op))
    return false;
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (!type.getElementType().isF32())
    return false;
  OpBuilder builder(op->getBlock(), ++Block::iterator(op));
  auto half =
      CastOp::create(builder, op->getLoc(), result, builder.getF16Type());
  auto back = CastOp::create(builder, op->getLoc(), half, builder.getF32Type());
  result.replaceAllUsesExcept(back, half);
  return true;
}

static bool loseNaN(Operation *op) {
  auto relu = dyn_cast<ReluOp>(op);
  if (!relu || !isa<FloatType>(getElementTypeOrSelf(relu.getResult())))
    return false;
  OpBuilder builder(op);
  Value x = relu.getInput();
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(x));
  Value zero = ConstantOp::create(
      builder, op->getLoc(), cast<ElementsAttr>(builder.getZeroAttr(scalar)));
  Value above = GreaterOp::create(builder, op->getLoc(), x, zero);
  Value chosen = SelectOp::create(builder, op->getLoc(), above, x, zero);
  return replaceBy(op, chosen);
}

static bool swapPieces(Operation *op) {
  return isa<ConcatOp, InsertSliceOp>(op) && swapOperands(op, 0, 1);
}

static bool loseSign(Operation *op) {
  return rename(op, "graph.reduce_l1", "graph.reduce_sum") ||
         (isa<AbsOp>(op) && replaceBy(op, op->getOperand(0)));
}

static bool forgetScatter(Operation *op) {
  auto scatter = dyn_cast<ScatterElementsOp>(op);
  if (!scatter || scatter.getReduction() == ScatterReduction::None)
    return false;
  scatter.setReduction(ScatterReduction::None);
  return true;
}

/// Returns the last of two numbers of one kind.
static bool takeOtherOfTies(Operation *op) {
  return isa<ArgMaxOp, ArgMinOp>(op) && flip(op, "select_last");
}

/// Merges two ops that differ in an attribute only.
static bool mergeAlike(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  for (Operation *other = op->getPrevNode(); other;
       other = other->getPrevNode())
    if (other->getName() == op->getName() && other->getNumResults() == 1 &&
        other->getOperandTypes() == op->getOperandTypes() &&
        (other->getOperands() != op->getOperands() ||
         other->getAttrDictionary() != op->getAttrDictionary()) &&
        replaceBy(op, other->getResult(0)))
      return true;
  return false;
}

static bool moveSamples(Operation *op) {
  auto resize = dyn_cast<ResizeOp>(op);
  if (!resize || resize.getCoordinates() == CoordinateMode::Asymmetric)
    return false;
  resize.setCoordinates(CoordinateMode::Asymmetric);
  return true;
}

static bool transposeOperand(Operation *op) {
  if (!isa<MatmulOp>(op))
    return false;
  auto type = cast<RankedTensorType>(op->getOperand(1).getType());
  int64_t rank = type.getRank();
  return rank >= 2 && !type.isDynamicDim(rank - 1) &&
         type.getDimSize(rank - 1) == type.getDimSize(rank - 2) &&
         type.getDimSize(rank - 1) > 1 && flip(op, "transpose_b");
}

static bool approximateGelu(Operation *op) {
  auto gelu = dyn_cast<GeluOp>(op);
  if (!gelu)
    return false;
  gelu.setApproximate(gelu.getApproximate() == GeluMode::None ? GeluMode::Tanh
                                                              : GeluMode::None);
  return true;
}

static bool forgetFill(Operation *op) {
  auto pad = dyn_cast<PadOp>(op);
  if (!pad || op->getNumOperands() < 2)
    return false;
  op->eraseOperand(1);
  return true;
}

static bool truncateRemainder(Operation *op) {
  return rename(op, "graph.mod", "graph.fmod") ||
         rename(op, "graph.fmod", "graph.mod");
}

static bool skipCheck(Operation *op) {
  if (!isa<AssumeOp>(op))
    return false;
  op->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Of kernels and of the host program
//===----------------------------------------------------------------------===//

/// Uses elements outside of memory where their value is defined.
static bool padByOne(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || !load.getPadAttr() ||
      !isa<FloatType>(getElementTypeOrSelf(load.getResult())))
    return false;
  load.setPadAttr(FloatAttr::get(getElementTypeOrSelf(load.getResult()), 1.0));
  return true;
}

static bool combineOtherwise(Operation *op) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  if (!reduce || isa<IntegerType>(getElementTypeOrSelf(reduce.getResult())) ||
      reduce->hasAttr("nnan"))
    return false;
  reduce.setKind(reduce.getKind() == tile::ReduceKind::add
                     ? tile::ReduceKind::max
                     : tile::ReduceKind::add);
  return true;
}

static bool stopEarly(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || !op->getParentOfType<tile::KernelOp>() ||
      loop.getInitArgs().empty())
    return false;
  OpBuilder builder(op);
  loop.setUpperBound(arith::SubIOp::create(
      builder, op->getLoc(), loop.getUpperBound(), loop.getStep()));
  return true;
}

static bool startLate(Operation *op) {
  auto store = dyn_cast<tile::StoreOp>(op);
  SmallVector<int64_t> offsets = getArray(op, "static_offsets");
  if (!store || offsets.empty())
    return false;
  for (int64_t &offset : llvm::reverse(offsets))
    if (!ShapedType::isDynamic(offset)) {
      ++offset;
      setArray(op, "static_offsets", offsets);
      return true;
    }
  return false;
}

/// The last index of the memory counts from the end.
static bool mirrorView(Operation *op) {
  auto view = dyn_cast<tile::ViewOp>(op);
  auto from =
      view ? cast<MemRefType>(view.getSource().getType()) : MemRefType();
  if (!view || from.getRank() == 0 || from.getShape().back() < 2)
    return false; // also of dynamic sizes
  auto to = cast<MemRefType>(view.getResult().getType());
  AffineMap map = to.getLayout().getAffineMap();
  SmallVector<AffineExpr> results(map.getResults());
  results.back() = from.getShape().back() - 1 - results.back();
  view.getResult().setType(MemRefType::get(
      to.getShape(), to.getElementType(),
      AffineMap::get(map.getNumDims(), 0, results, op->getContext())));
  return true;
}

static bool swapArguments(Operation *op) {
  auto launch = dyn_cast<host::LaunchOp>(op);
  if (!launch)
    return false;
  unsigned inputs =
      op->getNumOperands() - static_cast<unsigned>(launch.getNumOutputs());
  for (unsigned i = 1; i < inputs; ++i)
    if (swapOperands(op, i - 1, i))
      return true;
  return false;
}

/// Two slots of the arena overlap.
static bool overlapSlots(Operation *op) {
  auto slot = dyn_cast<host::SlotOp>(op);
  if (!slot || !slot->hasAttr("offset"))
    return false;
  for (Operation *other = op->getPrevNode(); other;
       other = other->getPrevNode())
    if (isa<host::SlotOp>(other) && other->hasAttr("offset") &&
        other->getAttr("offset") != op->getAttr("offset")) {
      op->setAttr("offset", other->getAttr("offset"));
      return true;
    }
  return false;
}

static bool skipLaunch(Operation *op) {
  if (!isa<host::LaunchOp>(op))
    return false;
  op->erase();
  return true;
}

ArrayRef<Fault> getFaults() {
  using S = Stage;
  static constexpr Fault faults[] = {
      {"swapped-difference", "a - b is b - a", S::Graph, swapDifference},
      {"dropped-addend", "a + b is a", S::Graph, dropAddend},
      {"swapped-axes", "a transpose has two axes swapped", S::Graph, swapAxes},
      {"loosened-comparison", "< is <=, or >= is >", S::Graph,
       loosenComparison},
      {"shifted-slice", "a slice begins one element before", S::Graph,
       shiftSlice},
      {"swapped-pads", "padding before is behind", S::Graph, swapPads},
      {"changed-weight", "one weight is 1 % greater", S::Graph, changeWeight},
      {"moved-axis", "softmax or a sum runs along the next dim", S::Graph,
       moveAxis},
      {"lost-bits", "one result goes through f16", S::Graph, loseBits},
      {"lost-nan", "relu gives 0 for NaN", S::Graph, loseNaN},
      {"swapped-pieces", "two parts of a concat are swapped", S::Graph,
       swapPieces},
      {"lost-sign", "|x| is x", S::Graph, loseSign},
      {"swapped-choice", "select has its branches swapped", S::Graph,
       [](Operation *op) {
         return isa<SelectOp>(op) && swapOperands(op, 1, 2);
       }},
      {"other-epsilon", "epsilon is 10 % greater", S::Graph,
       [](Operation *op) { return scale(op, "epsilon"); }},
      {"other-slope", "alpha is 10 % greater", S::Graph,
       [](Operation *op) { return scale(op, "alpha"); }},
      {"exclusive-sum", "a running sum leaves out the element itself", S::Graph,
       [](Operation *op) { return flip(op, "exclusive"); }},
      {"counted-padding", "padding counts in a mean, or does not", S::Graph,
       [](Operation *op) { return flip(op, "count_include_pad"); }},
      {"least-of-all", "top_k takes the other end", S::Graph,
       [](Operation *op) { return flip(op, "largest"); }},
      {"other-of-ties", "arg_max takes the last of equal ones", S::Graph,
       takeOtherOfTies},
      {"moved-diagonal", "trilu cuts one diagonal on", S::Graph,
       [](Operation *op) { return isa<TriluOp>(op) && add(op, "k", 1); }},
      {"forgotten-scatter", "scatter forgets what was there", S::Graph,
       forgetScatter},
      {"merged-alike", "two ops that differ are merged", S::Graph, mergeAlike},
      {"moved-samples", "resize samples at other places", S::Graph,
       moveSamples},
      {"transposed-operand", "a matrix is not transposed, or is", S::Graph,
       transposeOperand},
      {"other-gelu", "gelu by tanh for gelu by erf", S::Graph, approximateGelu},
      {"truncated-remainder", "a remainder has the other sign", S::Graph,
       truncateRemainder},
      {"rounded-down", "a rounding to the nearest goes down", S::Graph,
       [](Operation *op) { return rename(op, "graph.round", "graph.floor"); }},
      {"forgotten-fill", "padding by a number is by 0", S::Graph, forgetFill},
      {"skipped-check", "sizes inside of a branch go unchecked", S::Graph,
       skipCheck},
      {"padded-by-one", "outside of memory there are ones", S::Tile, padByOne},
      {"other-reduction", "a sum is a maximum, or the other way", S::Tile,
       combineOtherwise},
      {"short-depth", "a loop over the depth ends one step before", S::Tile,
       stopEarly},
      {"mirrored-view", "a movement ends the other way round", S::Tile,
       mirrorView},
      {"late-store", "a tile is stored one element on", S::Tile, startLate},
      {"swapped-arguments", "a launch has two inputs swapped", S::Host,
       swapArguments},
      {"shared-slot", "two values lie in one place", S::Host, overlapSlots},
      {"skipped-launch", "a kernel does not run", S::Host, skipLaunch},
  };
  return faults;
}

const Fault *findFault(StringRef name) {
  auto it = llvm::find_if(
      getFaults(), [&](const Fault &fault) { return fault.name == name; });
  return it == getFaults().end() ? nullptr : it;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool made = false;

static bool makeFirst(ModuleOp module, const Fault &fault) {
  return module
      .walk([&](Operation *op) {
        return fault.make(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
class FaultPass final : public PassWrapper<FaultPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FaultPass)
  FaultPass() = default;
  FaultPass(const FaultPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "property-make-fault"; }
  void runOnOperation() override {
    const Fault *fault = findFault(name);
    if (!fault)
      return signalPassFailure();
    made = makeFirst(getOperation(), *fault);
  }

private:
  Option<std::string> name{*this, "name", llvm::cl::desc("Which fault")};
};
} // namespace

void registerFaultPass() { PassRegistration<FaultPass>(); }

std::string getFaultPass(const Fault &fault) {
  return "property-make-fault{name=" + fault.name.str() + "}";
}

bool wasFaultMade() { return std::exchange(made, false); }

bool mayHaveFault(ModuleOp module, const Fault &fault) {
  if (fault.stage != Stage::Graph)
    return true;
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext()); // the first pass of each level
  manager.addNestedPass<func::FuncOp>(createCollectAssumptionsPass());
  (void)manager.run(*copy);
  return makeFirst(*copy, fault);
}

} // namespace property
