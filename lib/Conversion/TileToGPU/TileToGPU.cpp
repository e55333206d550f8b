// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-tile-to-gpu: the functions around the bodies of kernels.
#include "Conversion/ByteLookupToLLVM/ByteLookupToLLVM.h"
#include "Conversion/Passes.h"
#include "Converter.h"
#include "Dialect/Host/IR/Programs.h"
#include "Dialect/Tile/IR/Faults.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTTILETOGPU
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;
using namespace adze::togpu;

namespace {

constexpr StringLiteral kDims = "adze.dims";

/// Returns the physical shape for a layout map: `d mod c` has c positions.
SmallVector<int64_t> physicalShape(MemRefType type) {
  SmallVector<int64_t> shape;
  for (AffineExpr e : type.getLayout().getAffineMap().getResults()) {
    auto bin = dyn_cast<AffineBinaryOpExpr>(e);
    auto dim = dyn_cast<AffineDimExpr>(bin ? bin.getLHS() : e);
    auto c =
        bin ? dyn_cast<AffineConstantExpr>(bin.getRHS()) : AffineConstantExpr();
    if (!dim || (bin && !c))
      return {};
    int64_t extent = type.getDimSize(dim.getPosition());
    if (!bin)
      shape.push_back(extent);
    else if (bin.getKind() == AffineExprKind::Mod)
      shape.push_back(c.getValue());
    else if (bin.getKind() == AffineExprKind::FloorDiv)
      shape.push_back(llvm::divideCeil(extent, c.getValue()));
    else
      return {};
  }
  return shape;
}

/// Returns the reason why a kernel cannot be lowered, before anything is
/// emitted, or an empty string.
std::string findObstacle(tile::KernelOp kernel) {
  for (Type type : kernel.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      return "expected memref arguments only";
    bool plain = memref.getLayout().isIdentity();
    if (!plain && (!memref.hasStaticShape() || physicalShape(memref).empty()))
      return "expected a static packing of whole panels";
  }
  std::string why;
  kernel.walk([&](Operation *op) {
    if (isa<tile::ParamOp>(op))
      why = "expected bound parameters";
    if (isa<tile::PhaseOp>(op))
      why = "expected no phases";
    if (isa<tile::PrintOp>(op))
      why = "expected no tile.print, which prints on CPUs";
    for (Type type : op->getResultTypes()) {
      if (isa<MemRefType>(type) && !isa<ViewLikeOpInterface>(op))
        why = "expected no memory but the arguments and views of them";
      if (auto t = dyn_cast<RankedTensorType>(type);
          t && (!t.hasStaticShape() || !bytesOf(t.getElementType())))
        why = "expected static tiles of whole bytes";
    }
  });
  return why;
}

} // namespace

namespace adze::togpu {

void Converter::countSymbols(tile::KernelOp kernel) {
  numSymbols = countNamedSymbols(kernel);
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type || kernel.getArgAttr(arg.getArgNumber(), kDims))
      continue;
    ownSymbols[arg] = numSymbols;
    numSymbols += type.getNumDynamicDims();
  }
}

MemView Converter::makeView(OpBuilder &at, tile::KernelOp kernel, unsigned arg,
                            const Inputs &inputs) {
  Location loc = kernel.getLoc();
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[arg]);
  MemView view;
  view.base = view.origin = inputs.pointers[arg];
  view.elementType = type.getElementType();
  if (auto align =
          kernel.getArgAttrOfType<IntegerAttr>(arg, tile::kAlignAttribute))
    view.align = align.getInt();
  auto dims = kernel.getArgAttrOfType<AffineMapAttr>(arg, kDims);
  int64_t own = ownSymbols.lookup(kernel.getBody().getArgument(arg));
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size))
      view.sizes.push_back(at.getIndexAttr(size));
    else if (dims)
      view.sizes.push_back(expandAffine(at, loc, dims.getValue().getResult(d),
                                        {}, inputs.symbols));
    else
      view.sizes.push_back(inputs.symbols[own++]);
  }
  view.strides = rowMajorStrides(at, loc, view.sizes);
  if (type.getLayout().isIdentity())
    return view;
  view.map = type.getLayout().getAffineMap();
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(physicalShape(type))) {
    view.physicalStrides.insert(view.physicalStrides.begin(),
                                at.getIndexAttr(stride));
    stride *= size;
  }
  return view;
}

KernelFrame Converter::makeFrame(OpBuilder &at, tile::KernelOp kernel,
                                 const Inputs &inputs) {
  KernelFrame frame;
  for (BlockArgument arg : kernel.getBody().getArguments())
    frame.views[arg] = makeView(at, kernel, arg.getArgNumber(), inputs);
  kernel.walk([&](host::SizeOp op) {
    frame.map.map(op.getResult(),
                  expandAffine(at, kernel.getLoc(), op.getValue().getResult(0),
                               {}, inputs.symbols));
  });
  return frame;
}

LLVM::LLVMFuncOp Converter::makeEntry(tile::KernelOp kernel, StringRef name,
                                      int64_t blockThreads, unsigned numMaps) {
  return table.make(kernel, name, {numSymbols, blockThreads, numMaps});
}

void Converter::addGlobals(LLVM::LLVMFuncOp function, const KernelFrame &frame,
                           int64_t sharedAlign) {
  table.addShared(function, frame.sharedSymbol, sharedAlign);
  if (frame.zeroSymbol.empty())
    return;
  OpBuilder at(function);
  Location loc = module.getLoc();
  auto zeros =
      DenseElementsAttr::get(RankedTensorType::get({16}, at.getI8Type()),
                             at.getI8IntegerAttr(0).getValue());
  LLVM::GlobalOp::create(at, loc, LLVM::LLVMArrayType::get(at.getI8Type(), 16),
                         /*isConstant=*/true, LLVM::Linkage::Internal,
                         frame.zeroSymbol, zeros, /*alignment=*/16,
                         /*addrSpace=*/1);
}

/// Returns the conjunction of the conditions.
static Value checkConditions(OpBuilder &at, Location loc,
                             ArrayRef<Condition> conditions) {
  Value all;
  llvm::DenseMap<Value, int64_t> needs;
  SmallVector<Value> order;
  for (const Condition &c : conditions) {
    auto [it, fresh] = needs.try_emplace(c.value, c.multipleOf);
    it->second = std::max(it->second, c.multipleOf); // powers of two
    if (fresh)
      order.push_back(c.value);
  }
  for (Value v : order) {
    Value number =
        isa<IndexType>(v.getType())
            ? arith::IndexCastOp::create(at, loc, at.getI64Type(), v)
                  .getResult()
            : LLVM::PtrToIntOp::create(at, loc, at.getI64Type(), v).getResult();
    Value rest = arith::AndIOp::create(
        at, loc, number,
        arith::ConstantIntOp::create(at, loc, at.getI64Type(), needs[v] - 1));
    Value holds = arith::CmpIOp::create(
        at, loc, arith::CmpIPredicate::eq, rest,
        arith::ConstantIntOp::create(at, loc, at.getI64Type(), 0));
    all = all ? arith::AndIOp::create(at, loc, all, holds).getResult() : holds;
  }
  return all;
}

/// Emits the body, and a second one without conditional wide accesses if the
/// first one relies on facts that are known only at launch.
bool Converter::lowerVersions(const KernelFrame &frame, tile::KernelOp kernel,
                              KernelPlan &plan, Block *block,
                              int64_t &sharedBytes) {
  Location loc = kernel.getLoc();
  OpBuilder at = OpBuilder::atBlockEnd(block);
  Value always = arith::ConstantIntOp::create(at, loc, at.getI1Type(), 1);
  auto branch = scf::IfOp::create(at, loc, always, /*withElseRegion=*/true);
  LLVM::ReturnOp::create(at, loc, ValueRange());
  for (Block *version : {branch.thenBlock(), branch.elseBlock()})
    version->clear();
  KernelLowering fast(kernel, plan, frame, /*fast=*/true);
  if (failed(fast.run(branch.thenBlock())))
    return refuse(kernel, fast.reason);
  sharedBytes = fast.sharedBytes;
  if (fast.conditions.empty()) {
    block->getOperations().splice(branch->getIterator(),
                                  branch.thenBlock()->getOperations());
    branch->erase();
    return true;
  }
  KernelLowering careful(kernel, plan, frame, /*fast=*/false);
  if (failed(careful.run(branch.elseBlock())))
    return refuse(kernel, careful.reason);
  sharedBytes = std::max(sharedBytes, careful.sharedBytes);
  for (Block *version : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder end = OpBuilder::atBlockEnd(version);
    scf::YieldOp::create(end, loc);
  }
  at.setInsertionPoint(branch);
  branch.getConditionMutable().assign(
      checkConditions(at, loc, fast.conditions));
  return true;
}

KernelFrame Converter::beginHostFunction(OpBuilder &at, tile::KernelOp kernel,
                                         KernelPlan &plan, Value symbols) {
  Location loc = kernel.getLoc();
  Inputs inputs;
  Value none = LLVM::ZeroOp::create(
      at, loc, LLVM::LLVMPointerType::get(b.getContext(), 1));
  inputs.pointers.assign(kernel.getNumArguments(), none);
  for (int64_t i = 0; i < numSymbols; ++i) {
    Value address =
        LLVM::GEPOp::create(at, loc, symbols.getType(), at.getI64Type(),
                            symbols, LLVM::GEPArg(int32_t(i)));
    Value symbol = LLVM::LoadOp::create(at, loc, at.getI64Type(), address);
    inputs.symbols.push_back(
        arith::IndexCastOp::create(at, loc, at.getIndexType(), symbol));
  }
  KernelFrame frame = makeFrame(at, kernel, inputs);
  frame.programId = frame.threadId = arith::ConstantIndexOp::create(at, loc, 0);
  KernelLowering scalars(kernel, plan, frame, /*fast=*/true);
  scalars.lowerPrologue(at);
  return scalars.getFrame();
}

void eraseUnused(LLVM::LLVMFuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Creates `@NAME_cuda_programs(symbols)`, which returns the blocks of the grid
/// to the host.
void Converter::makePrograms(tile::KernelOp kernel, KernelPlan &plan,
                             int64_t packed) {
  Location loc = kernel.getLoc();
  LLVM::LLVMFuncOp function = table.makePrograms(loc, kernel.getName());
  OpBuilder at = OpBuilder::atBlockEnd(function.addEntryBlock(b));
  KernelFrame frame =
      beginHostFunction(at, kernel, plan, function.getArgument(0));
  Value programs = countPrograms(at, kernel, frame);
  if (packed > 1)
    programs = at.createOrFold<arith::CeilDivUIOp>(
        loc, programs, arith::ConstantIndexOp::create(at, loc, packed));
  programs = at.createOrFold<arith::MulIOp>(
      loc, programs, arith::ConstantIndexOp::create(at, loc, plan.getBlocks()));
  LLVM::ReturnOp::create(at, loc,
                         ValueRange(arith::IndexCastOp::create(
                             at, loc, at.getI64Type(), programs)));
  eraseUnused(function);
}

Inputs Converter::getInputs(OpBuilder &at, tile::KernelOp kernel,
                            Block *entry) {
  Inputs inputs;
  inputs.pointers.assign(entry->args_begin(),
                         entry->args_begin() + kernel.getNumArguments());
  for (int64_t i = 0; i < numSymbols; ++i)
    inputs.symbols.push_back(arith::IndexCastOp::create(
        at, kernel.getLoc(), at.getIndexType(),
        entry->getArgument(kernel.getNumArguments() + i)));
  return inputs;
}

static void setClusterBlocks(LLVM::LLVMFuncOp function, int64_t blocks) {
  function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    Builder(function.getContext())
                        .getDenseI32ArrayAttr({int32_t(blocks), 1, 1}));
}

/// Makes the blocks of a cluster compute one program.
static void joinBlocks(OpBuilder &at, Location loc, const KernelPlan &plan,
                       KernelFrame &frame, LLVM::LLVMFuncOp function) {
  int64_t blocks = plan.getBlocks();
  setClusterBlocks(function, blocks);
  Value rank = arith::IndexCastUIOp::create(
      at, loc, at.getIndexType(),
      NVVM::ClusterId::create(at, loc, at.getI32Type()));
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(at, loc, value);
  };
  frame.threadId = arith::AddIOp::create(
      at, loc, frame.threadId,
      arith::MulIOp::create(at, loc, rank, number(plan.getBlockThreads())));
  frame.programId =
      arith::DivUIOp::create(at, loc, frame.programId, number(blocks));
}

bool Converter::convert(tile::KernelOp kernel) {
  if (std::string why = findObstacle(kernel); !why.empty())
    return refuse(kernel, why);
  countSymbols(kernel);
  tile::ScheduleAttr schedule = tile::getSchedule(kernel);
  bool isOfThreads = schedule && schedule.getUnit() == tile::kThreadsUnit;
  if (schedule && !isOfThreads)
    return convertScheduled(kernel);
  int64_t blocks =
      isOfThreads ? std::max<int64_t>(1, schedule.getBlock("split")) : 1;
  KernelPlan plan(kernel,
                  isOfThreads ? schedule.getBlock("threads") * blocks : threads,
                  blocks);
  return convertToThreads(kernel, plan,
                          schedule || kernel.isOrdered() || getGroup(kernel) > 1
                              ? 1
                              : countPacked(kernel, plan));
}

/// Makes a launch compute the programs of one step, whose first one is an
/// argument.
void Converter::beginStep(OpBuilder &at, tile::KernelOp kernel,
                          KernelFrame &frame, LLVM::LLVMFuncOp function) {
  Location loc = kernel.getLoc();
  function->setAttr(host::orderedAttr, b.getUnitAttr());
  Value first = arith::IndexCastOp::create(
      at, loc, at.getIndexType(),
      function.getArgument(kernel.getNumArguments() + numSymbols));
  frame.programId = arith::AddIOp::create(at, loc, first, frame.programId);
}

bool Converter::convertToThreads(tile::KernelOp kernel, KernelPlan &plan,
                                 int64_t packed) {
  std::string name = table.chooseName(kernel.getName());
  LLVM::LLVMFuncOp function =
      makeEntry(kernel, name, plan.getBlockThreads() * packed);
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(plan.getResidentBlocks()));
  for (unsigned arg = 0; arg < kernel.getNumArguments(); ++arg)
    if (kernel.getArgAttr(arg, tile::kConstantAttribute))
      function.setArgAttr(arg, tile::kConstantAttribute, b.getUnitAttr());
  Block *block = function.addEntryBlock(b);
  OpBuilder at = OpBuilder::atBlockEnd(block);
  Location loc = kernel.getLoc();
  KernelFrame frame = makeFrame(at, kernel, getInputs(at, kernel, block));
  if (raisesFaults(kernel))
    frame.faults = makeFaults(at, function);
  frame.threadId = gpu::ThreadIdOp::create(at, loc, gpu::Dimension::x);
  frame.programId = gpu::BlockIdOp::create(at, loc, gpu::Dimension::x);
  if (plan.getBlocks() > 1)
    joinBlocks(at, loc, plan, frame, function);
  else if (int64_t group = getGroup(kernel); group > 1)
    setClusterBlocks(function, group);
  if (packed > 1)
    packPrograms(at, loc, plan, packed, frame);
  if (kernel.isOrdered())
    beginStep(at, kernel, frame, function);
  frame.sharedSymbol = name + "_shared";
  frame.zeroSymbol = name + "_zeros";
  KernelLowering prologue(kernel, plan, frame, /*fast=*/true);
  prologue.lowerPrologue(at);
  Operation *last = block->empty() ? nullptr : &block->back();
  int64_t sharedBytes = 0;
  if (!lowerVersions(prologue.getFrame(), kernel, plan, block, sharedBytes) ||
      (sharedBytes > sharedLimit &&
       !refuse(kernel, "expected at most " + std::to_string(sharedLimit) +
                           " bytes of shared memory, but got " +
                           std::to_string(sharedBytes)))) {
    function.erase();
    return false;
  }
  if (packed > 1 && (sharedBytes || synchronizes(function))) {
    function.erase();
    return convertToThreads(kernel, plan, /*packed=*/1);
  }
  if (packed > 1) {
    guardPrograms(kernel, prologue.getFrame(), packed, last);
    function->setAttr("adze.packed_programs", b.getI64IntegerAttr(packed));
  }
  function->setAttr("adze.shared_bytes", b.getI64IntegerAttr(sharedBytes));
  if (hasProducts(kernel))
    function->setAttr("adze.products", b.getUnitAttr());
  addGlobals(function, frame, /*sharedAlign=*/128);
  makePrograms(kernel, plan, packed);
  return true;
}

} // namespace adze::togpu

namespace {
struct ConvertTileToGPUPass final
    : adze::impl::ConvertTileToGPUBase<ConvertTileToGPUPass> {
  using ConvertTileToGPUBase::ConvertTileToGPUBase;

  void runOnOperation() override {
    Converter converter(getOperation(), threads, sharedLimit);
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      if (!converter.convert(kernel)) {
        ++numRefused;
        continue;
      }
      ++numKernels;
      // Kernels that a host program launches are kept.
      if (users.useEmpty(kernel))
        kernel.erase();
    }
    converter.finish();
    lowerDeviceByteLookups(getOperation());
  }
};

} // namespace
