// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Replaces operations of GPUs by calls of the emulator's functions.
#include "DeviceCalls.h"
#include "EmulatedCluster.h"
#include "EmulatedCopies.h"
#include "EmulatedUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace adze::test {

//===--- the functions ----------------------------------------------------===//

static int32_t getThreadId() { return int32_t(cluster->getThread()); }
static int32_t getBlockRank() { return int32_t(cluster->getRank()); }
static int32_t getBlockId() {
  return int32_t(cluster->number * cluster->shape.blocks) + getBlockRank();
}
static int32_t getGridSize() { return int32_t(cluster->shape.gridBlocks); }
static int32_t getClusterSize() { return int32_t(cluster->shape.blocks); }

static void waitForBlock() {
  cluster->meet("the barrier of a block", cluster->getRank(),
                unsigned(cluster->shape.threads));
}
static void waitForWarp() {
  constexpr int64_t warpThreads = 32;
  cluster->meet("the barrier of a warp", cluster->getGroup(warpThreads),
                cluster->getWarpThreads());
}
static void waitForCluster() { cluster->meetCluster(); }
static constexpr const char *kNamedBarrier = "a named barrier";
static int64_t getNamedBarrier(int32_t number) {
  constexpr int64_t barriers = 16;
  return cluster->getRank() * barriers + number;
}
/// Waits at a barrier of the block that other threads use, too.
static void waitForSome(int32_t number, int32_t count) {
  cluster->meet(kNamedBarrier, getNamedBarrier(number), unsigned(count));
}
static void arriveAtNamed(int32_t number, int32_t count) {
  cluster->arrive(kNamedBarrier, getNamedBarrier(number), unsigned(count));
}

static char *getSharedMemory(int32_t variable) {
  return cluster->getShared(variable);
}
/// Returns the distance from this block's shared memory to that of another one.
static int64_t getDistance(int32_t rank) {
  return (rank - getBlockRank()) * Cluster::kSharedBytes;
}

llvm::ArrayRef<EmulatedFunction> getEmulatedFunctions() {
  auto address = [](auto *function) {
    return reinterpret_cast<void *>(function);
  };
  static const EmulatedFunction functions[] = {
      {"emu_thread_id", address(getThreadId)},
      {"emu_block_id", address(getBlockId)},
      {"emu_block_rank", address(getBlockRank)},
      {"emu_grid_size", address(getGridSize)},
      {"emu_cluster_size", address(getClusterSize)},
      {"emu_barrier", address(waitForBlock)},
      {"emu_named_barrier", address(waitForSome)},
      {"emu_named_arrive", address(arriveAtNamed)},
      {"emu_warp_barrier", address(waitForWarp)},
      {"emu_cluster_barrier", address(waitForCluster)},
      {"emu_shared", address(getSharedMemory)},
      {"emu_distance", address(getDistance)},
      {"emu_shuffle", address(shuffle)},
      {"emu_broadcast", address(broadcast)},
      {"emu_vote", address(voteAll)},
      {"emu_ldmatrix", address(loadMatrices)},
      {"emu_stmatrix", address(storeMatrices)},
      {"emu_mma", address(multiplyMatrices)},
      {"emu_round", address(roundToTF32)},
      {"emu_wgmma", address(multiplyWarpgroup)},
      {"emu_read_sum", address(readAccumulator)},
      {"emu_wgmma_fence", address(fenceProducts)},
      {"emu_wgmma_commit", address(commitProducts)},
      {"emu_wgmma_wait", address(waitForProducts)},
      {"emu_barrier_init", address(initBarrier)},
      {"emu_fence_barriers", address(fenceBarriers)},
      {"emu_fence_proxy", address(fenceProxy)},
      {"emu_arrive", address(arrive)},
      {"emu_arrive_expecting", address(arriveExpecting)},
      {"emu_wait_phase", address(waitForPhase)},
      {"emu_copy_to_shared", address(copyToShared)},
      {"emu_copy_from_shared", address(copyFromShared)},
      {"emu_commit_copies", address(commitCopies)},
      {"emu_wait_copies", address(waitForCopies)},
      {"emu_copy_async", address(copyAsync)},
      {"emu_commit_async", address(commitAsync)},
      {"emu_wait_async", address(waitForAsync)},
      {"emu_note_write", address(noteWrite)},
  };
  return functions;
}

//===--- the calls --------------------------------------------------------===//

namespace {

/// Replaces one operation.
class OpReplacer {
public:
  OpReplacer(ModuleOp module, Operation *op)
      : module(module), op(op), b(op), loc(op->getLoc()) {}

  /// Returns the result of a call, or null. Pointers are passed as generic
  /// ones, and bits as words.
  Value call(StringRef callee, Type result, ValueRange arguments) {
    SmallVector<Value> passed;
    for (Value v : arguments) {
      if (isa<LLVM::LLVMPointerType>(v.getType()) && v.getType() != pointer())
        v = LLVM::AddrSpaceCastOp::create(b, loc, pointer(), v);
      else if (v.getType().isInteger(1))
        v = LLVM::ZExtOp::create(b, loc, b.getI32Type(), v);
      passed.push_back(v);
    }
    Type type = result ? result : LLVM::LLVMVoidType::get(b.getContext());
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(callee);
    if (!function) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      function = LLVM::LLVMFuncOp::create(
          top, module.getLoc(), callee,
          LLVM::LLVMFunctionType::get(
              type, llvm::to_vector(ValueRange(passed).getTypes())));
    }
    auto made = LLVM::CallOp::create(b, loc, function, passed);
    return result ? made.getResult() : Value();
  }

  void replaceWith(Value v) {
    op->getResult(0).replaceAllUsesWith(v);
    op->erase();
  }
  /// Replaces the operation, whose result nobody uses, by a call.
  void replace(StringRef callee, ValueRange arguments = {}) {
    call(callee, Type(), arguments);
    op->dropAllUses();
    op->erase();
  }
  void replaceId(StringRef callee) {
    Value id = call(callee, b.getI32Type(), {});
    if (isa<IndexType>(op->getResult(0).getType()))
      id = arith::IndexCastOp::create(b, loc, b.getIndexType(), id);
    replaceWith(id);
  }

  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value);
  }
  /// Returns memory in the frame of the function.
  Value allocate(Type type, int64_t count = 1) {
    OpBuilder first = OpBuilder::atBlockBegin(
        &op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
    Value size = LLVM::ConstantOp::create(first, loc, b.getI32Type(), count);
    return LLVM::AllocaOp::create(first, loc, pointer(), type, size);
  }
  Value getWord(Value words, int64_t i) {
    return LLVM::GEPOp::create(b, loc, words.getType(), b.getI32Type(), words,
                               LLVM::GEPArg(int32_t(i)));
  }
  /// Returns memory that has the values, which are 32 bits wide.
  Value storeWords(ValueRange values) {
    Value words = allocate(b.getI32Type(), int64_t(values.size()));
    for (auto [i, v] : llvm::enumerate(values))
      LLVM::StoreOp::create(b, loc, v, getWord(words, int64_t(i)));
    return words;
  }
  Value loadResult(Value words) {
    return LLVM::LoadOp::create(b, loc, op->getResult(0).getType(), words);
  }

  void replaceShuffle(Value value, Value lane, bool isButterfly) {
    Type type = value.getType();
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), value);
    Value got = call(isButterfly ? "emu_shuffle" : "emu_broadcast",
                     b.getI32Type(), {bits, lane});
    replaceWith(LLVM::BitcastOp::create(b, loc, type, got));
  }
  void replaceVote(NVVM::VoteSyncOp vote) {
    Value all = call("emu_vote", b.getI32Type(), vote.getPred());
    replaceWith(LLVM::TruncOp::create(b, loc, op->getResult(0).getType(), all));
  }

  void replaceMatrixLoad(NVVM::LdMatrixOp load) {
    Value words = allocate(b.getI32Type(), load.getNum());
    call("emu_ldmatrix", Type(),
         {load.getPtr(), number(load.getNum()),
          number(load.getLayout() == NVVM::MMALayout::col), words});
    replaceWith(loadResult(words));
  }
  void replaceMatrixStore(NVVM::StMatrixOp store) {
    replace("emu_stmatrix", {store.getPtr(), storeWords(store.getSources())});
  }
  void replaceProduct(NVVM::MmaOp product) {
    Value words = storeWords(product->getOperands());
    auto parts = int64_t(product.getOperandB().size());
    call("emu_mma", Type(),
         {number(getElement(*product.getMultiplicandAPtxType())),
          number(getElement(*product.getMultiplicandBPtxType())), number(parts),
          words});
    replaceWith(loadResult(getWord(words, 3 * parts)));
  }

  struct GroupProduct {
    int64_t columns, lhs, rhs;
    bool lhsAlongDepth, rhsAlongDepth;
  };
  void replaceGroupProduct(const GroupProduct &form, Value lhs, Value rhs,
                           Value registers, Value sums) {
    Value words =
        storeWords({number(form.columns), number(form.lhs), number(form.rhs),
                    number(form.lhsAlongDepth), number(form.rhsAlongDepth)});
    call("emu_wgmma", Type(), {words, lhs, rhs, registers, sums});
    replaceWith(loadResult(sums));
  }
  void replaceGroupProduct(NVVM::WgmmaMmaAsyncOp product) {
    Value sums = allocate(product.getInouts().getType());
    LLVM::StoreOp::create(b, loc, product.getInouts(), sums);
    replaceGroupProduct({product.getShape().getN(),
                         getElement(product.getTypeA()),
                         getElement(product.getTypeB()),
                         product.getLayoutA() == NVVM::MMALayout::row,
                         product.getLayoutB() == NVVM::MMALayout::col},
                        product.getDescriptorA(), product.getDescriptorB(),
                        LLVM::ZeroOp::create(b, loc, pointer()), sums);
  }
  /// Replaces the form with the left operand in registers, which is text, and
  /// the empty text that keeps a value where it is computed.
  void replaceText(LLVM::InlineAsmOp text) {
    if (text.getAsmString().empty())
      return replaceWith(text.getOperand(0));
    SmallVector<StringRef> parts;
    if (!llvm::Regex("^wgmma\\.mma_async\\.sync\\.aligned\\.m64n([0-9]+)k16\\."
                     "f32\\.(f16|bf16)\\.")
             .match(text.getAsmString(), &parts))
      return;
    constexpr int64_t registers = 4;
    int64_t columns;
    parts[1].getAsInteger(10, columns);
    int64_t element = getElement(parts[2]);
    OperandRange operands = text.getOperands();
    Value none = LLVM::ConstantOp::create(b, loc, b.getI64Type(), 0);
    Value sums = storeWords(operands.drop_back(registers + 1)),
          lhs = storeWords(operands.drop_back().take_back(registers));
    replaceGroupProduct({columns, element, element, true, false}, none,
                        operands.back(), lhs, sums);
  }

  /// Returns the element type of a unit's operands by its name.
  static int64_t getElement(StringRef type) {
    auto element = llvm::StringSwitch<std::optional<Element>>(type)
                       .Case("f16", Element::f16)
                       .Case("bf16", Element::bf16)
                       .Case("tf32", Element::tf32)
                       .Case("u8", Element::u8)
                       .Case("s8", Element::s8)
                       .Default(std::nullopt);
    if (!element)
      llvm::report_fatal_error("no emulated products of " + type);
    return int64_t(*element);
  }
  static int64_t getElement(NVVM::MMATypes type) {
    return getElement(NVVM::stringifyMMATypes(type));
  }
  static int64_t getElement(NVVM::WGMMATypes type) {
    return getElement(NVVM::stringifyWGMMATypes(type));
  }

  /// Dynamic shared memory is one variable.
  void replaceShared(LLVM::AddressOfOp address) {
    if (address.getType().getAddressSpace() != 3)
      return;
    int32_t variable = 0, next = 0;
    for (auto global : module.getOps<LLVM::GlobalOp>()) {
      if (global.getAddrSpace() != 3 || isDynamic(global))
        continue;
      ++next;
      if (global.getSymName() == address.getGlobalName())
        variable = next;
    }
    Value own = call("emu_shared", pointer(), number(variable));
    replaceWith(LLVM::AddrSpaceCastOp::create(b, loc, address.getType(), own));
  }
  static bool isDynamic(LLVM::GlobalOp global) {
    auto type = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    return type && !type.getNumElements();
  }
  void replaceMapa(NVVM::MapaOp mapa) {
    Value distance = call("emu_distance", b.getI64Type(), mapa.getB());
    Value theirs =
        LLVM::GEPOp::create(b, loc, mapa.getA().getType(), b.getI8Type(),
                            mapa.getA(), LLVM::GEPArg(distance));
    replaceWith(LLVM::AddrSpaceCastOp::create(b, loc, mapa.getType(), theirs));
  }

  /// Returns true in a kernel with asynchronous copies.
  bool isPipeline() {
    return op->getParentOfType<LLVM::LLVMFuncOp>()->hasAttr("adze.tensor_maps");
  }

  /// Reads an accumulator of a warpgroup, unless the next matrix instruction
  /// takes it.
  void replaceRead(LLVM::ExtractValueOp read) {
    Type type = read.getType();
    if (!isPipeline() || !(type.isF32() || type.isInteger(32)) ||
        llvm::all_of(op->getUsers(), llvm::IsaPred<LLVM::InlineAsmOp>))
      return;
    b.setInsertionPointAfter(op);
    Value word = LLVM::BitcastOp::create(b, loc, b.getI32Type(), read);
    Value sum = call("emu_read_sum", b.getI32Type(),
                     {word, number(read.getPosition()[0])});
    Value result = LLVM::BitcastOp::create(b, loc, type, sum);
    read.getResult().replaceAllUsesExcept(result, word.getDefiningOp());
  }

  /// Records a store to shared memory.
  void noteStore(LLVM::StoreOp store) {
    auto type = cast<LLVM::LLVMPointerType>(store.getAddr().getType());
    if (type.getAddressSpace() != 3 || !isPipeline())
      return;
    int64_t bytes =
        DataLayout::closest(op).getTypeSize(store.getValue().getType());
    call("emu_note_write", Type(), {store.getAddr(), number(bytes)});
  }

  void run() {
    llvm::TypeSwitch<Operation *>(op)
        .Case<gpu::ThreadIdOp, NVVM::ThreadIdXOp>(
            [&](auto) { replaceId("emu_thread_id"); })
        .Case<gpu::BlockIdOp, NVVM::BlockIdXOp>(
            [&](auto) { replaceId("emu_block_id"); })
        .Case([&](NVVM::GridDimXOp) { replaceId("emu_grid_size"); })
        .Case([&](NVVM::ClusterId) { replaceId("emu_block_rank"); })
        .Case([&](NVVM::ClusterDim) { replaceId("emu_cluster_size"); })
        .Case([&](gpu::ShuffleOp shuffle) {
          replaceShuffle(shuffle.getValue(), shuffle.getOffset(), true);
        })
        .Case([&](NVVM::ShflOp shuffle) {
          replaceShuffle(shuffle.getVal(), shuffle.getOffset(),
                         shuffle.getKind() == NVVM::ShflKind::bfly);
        })
        .Case([&](LLVM::AddressOfOp address) { replaceShared(address); })
        .Case([&](NVVM::MapaOp mapa) { replaceMapa(mapa); })
        .Default([&](Operation *) { runBarrier(); });
  }

  void runBarrier() {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](gpu::BarrierOp) { replace("emu_barrier"); })
        .Case([&](NVVM::BarrierOp barrier) {
          replace("emu_named_barrier",
                  {barrier.getBarrierId(), barrier.getNumberOfThreads()});
        })
        .Case([&](NVVM::BarrierArriveOp arrive) {
          replace("emu_named_arrive",
                  {arrive.getBarrierId(), arrive.getNumberOfThreads()});
        })
        .Case([&](NVVM::SyncWarpOp) { replace("emu_warp_barrier"); })
        .Case([&](NVVM::ClusterWaitOp) { replace("emu_cluster_barrier"); })
        .Case([&](NVVM::MBarrierInitOp init) {
          replace("emu_barrier_init", {init.getAddr(), init.getCount()});
        })
        .Case([&](NVVM::MBarrierArriveOp arrive) {
          replace("emu_arrive", arrive.getAddr());
        })
        .Case([&](NVVM::MBarrierArriveExpectTxOp arrive) {
          replace("emu_arrive_expecting",
                  {arrive.getAddr(), arrive.getTxcount()});
        })
        .Case([&](NVVM::MBarrierTryWaitParityOp wait) {
          replace("emu_wait_phase", {wait.getAddr(), wait.getPhase()});
        })
        .Case([&](NVVM::FenceMbarrierInitOp) { replace("emu_fence_barriers"); })
        .Case([&](NVVM::FenceProxyOp) { replace("emu_fence_proxy"); })
        .Case([&](NVVM::WgmmaFenceAlignedOp) { replace("emu_wgmma_fence"); })
        .Case(
            [&](NVVM::WgmmaGroupSyncAlignedOp) { replace("emu_wgmma_commit"); })
        .Case([&](NVVM::WgmmaWaitGroupSyncOp wait) {
          replace("emu_wgmma_wait", number(int64_t(wait.getGroup())));
        })
        .Case<NVVM::ClusterArriveOp, NVVM::SetMaxRegisterOp, NVVM::PrefetchOp>(
            [](auto hint) { hint->erase(); })
        .Default([&](Operation *) { runUnit(); });
  }

  void runUnit() {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](NVVM::VoteSyncOp vote) { replaceVote(vote); })
        .Case([&](NVVM::LdMatrixOp load) { replaceMatrixLoad(load); })
        .Case([&](NVVM::StMatrixOp store) { replaceMatrixStore(store); })
        .Case([&](NVVM::MmaOp product) { replaceProduct(product); })
        .Case([&](NVVM::WgmmaMmaAsyncOp product) {
          replaceGroupProduct(product);
        })
        .Case([&](LLVM::InlineAsmOp text) { replaceText(text); })
        .Case([&](NVVM::ConvertFloatToTF32Op rounding) {
          replaceWith(call("emu_round", b.getI32Type(), rounding.getSrc()));
        })
        .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
          replace("emu_copy_to_shared",
                  {copy.getDstMem(), copy.getTmaDescriptor(),
                   storeWords(copy.getCoordinates()), copy.getMbar()});
        })
        .Case([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp copy) {
          replace("emu_copy_from_shared",
                  {copy.getTmaDescriptor(), copy.getSrcMem(),
                   storeWords(copy.getCoordinates())});
        })
        .Case([&](NVVM::CpAsyncBulkCommitGroupOp) {
          replace("emu_commit_copies");
        })
        .Case([&](NVVM::CpAsyncBulkWaitGroupOp wait) {
          replace("emu_wait_copies", number(wait.getGroup()));
        })
        .Case([&](NVVM::CpAsyncOp copy) {
          Value bytes = number(copy.getSize()), read = copy.getCpSize();
          replace("emu_copy_async",
                  {copy.getDst(), copy.getSrc(), bytes, read ? read : bytes});
        })
        .Case([&](NVVM::CpAsyncCommitGroupOp) { replace("emu_commit_async"); })
        .Case([&](NVVM::CpAsyncWaitGroupOp wait) {
          replace("emu_wait_async", number(wait.getN()));
        })
        .Case([&](LLVM::ExtractValueOp read) { replaceRead(read); })
        .Case([&](LLVM::StoreOp store) { noteStore(store); });
  }

private:
  ModuleOp module;
  Operation *op;
  OpBuilder b;
  Location loc;
};

} // namespace

void replaceByCalls(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    OpReplacer(module, op).run();
  for (auto global :
       llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
    if (global.getAddrSpace() == 3)
      global.erase();
}

} // namespace adze::test
