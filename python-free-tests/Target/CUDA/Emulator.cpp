// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The emulator: gpu operations become calls of the functions below, and the
// other code is compiled for the host.
#include "Emulator.h"
#include "EmulatedUnits.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <random>
#include <sys/mman.h>

using namespace mlir;

namespace adze::test {

namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr int64_t kSharedBytes = 256 << 10;
constexpr int64_t kMostBlocks = 8; ///< of a cluster

} // namespace

Block *block = nullptr;

void meet(const char *kind) {
  Block::Thread &me = block->threads[block->current];
  me.kind = kind;
  ++me.meetings;
  swapcontext(&me.context, &block->scheduler);
}

namespace {

constexpr const char *kClusterBarrier = "cluster";

int64_t threadId() { return block->current % block->blockThreads; }
int32_t blockRank() { return int32_t(block->current / block->blockThreads); }
int64_t blockId() {
  return block->number * int64_t(block->threads.size() / block->blockThreads) +
         blockRank();
}
void barrier() { meet("barrier"); }
void clusterBarrier() { meet(kClusterBarrier); }
/// Returns the distance from the first block's shared memory.
int64_t sharedOffset() { return blockRank() * kSharedBytes; }
/// Returns the distance from this block's shared memory.
int64_t sharedDistance(int32_t rank) {
  return (rank - blockRank()) * kSharedBytes;
}
uint32_t shuffle(uint32_t value, uint32_t mask) {
  unsigned self = block->current;
  Block::Thread &me = block->threads[self];
  // Two slots: a fast thread may be at its next shuffle already.
  unsigned slot = me.meetings & 1;
  me.slots[slot] = value;
  meet("shuffle");
  return block->threads[self ^ mask].slots[slot];
}

using Entry = void (*)(const int64_t *);
struct Start {
  Entry entry;
  const int64_t *arguments;
} start;

void runThread() {
  start.entry(start.arguments);
  Block::Thread &me = block->threads[block->current];
  me.done = true;
  me.kind = "end";
  swapcontext(&me.context, &block->scheduler);
}

/// Replaces operations of GPUs by calls.
struct CallEmulator {
  ModuleOp module;

  LLVM::LLVMFuncOp declare(StringRef name, Type result,
                           ArrayRef<Type> arguments) {
    if (auto have = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return have;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    return LLVM::LLVMFuncOp::create(
        b, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(result, arguments));
  }

  Value call(OpBuilder &b, Location loc, StringRef callee, Type result,
             ValueRange arguments) {
    auto f = declare(callee, result, llvm::to_vector(arguments.getTypes()));
    return LLVM::CallOp::create(b, loc, f, arguments).getResult();
  }

  void replaceId(Operation *op, StringRef callee) {
    OpBuilder b(op);
    Value id = call(b, op->getLoc(), callee, b.getI64Type(), {});
    op->getResult(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), id)
            .getResult());
    op->erase();
  }

  void replaceShuffle(gpu::ShuffleOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type type = op.getValue().getType();
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), op.getValue());
    Value got =
        call(b, loc, "emu_shuffle", b.getI32Type(), {bits, op.getOffset()});
    op.getShuffleResult().replaceAllUsesWith(
        LLVM::BitcastOp::create(b, loc, type, got).getResult());
    op->erase();
  }

  /// Returns memory for words in the frame of the function around `op`.
  Value makeWords(Operation *op, unsigned count) {
    OpBuilder b = OpBuilder::atBlockBegin(
        &op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
    Value size = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(),
                                          b.getI32IntegerAttr(count));
    return LLVM::AllocaOp::create(b, op->getLoc(),
                                  LLVM::LLVMPointerType::get(b.getContext()),
                                  b.getI32Type(), size);
  }

  static Value getWord(OpBuilder &b, Location loc, Value words, int32_t i) {
    return LLVM::GEPOp::create(b, loc, words.getType(), b.getI32Type(), words,
                               LLVM::GEPArg(i));
  }

  /// Replaces the struct result of `op` by words from `first` on.
  void replaceStruct(Operation *op, Value words, int32_t first) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto type = cast<LLVM::LLVMStructType>(op->getResult(0).getType());
    Value all = LLVM::UndefOp::create(b, loc, type);
    for (auto [i, part] : llvm::enumerate(type.getBody())) {
      Value word = LLVM::LoadOp::create(
          b, loc, part, getWord(b, loc, words, first + int32_t(i)));
      all = LLVM::InsertValueOp::create(b, loc, all, word,
                                        ArrayRef<int64_t>{int64_t(i)});
    }
    op->getResult(0).replaceAllUsesWith(all);
    op->erase();
  }

  void replaceMatrixLoad(NVVM::LdMatrixOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto f = declare("emu_ldmatrix", LLVM::LLVMVoidType::get(b.getContext()),
                     {pointer, b.getI32Type(), b.getI32Type(), pointer});
    Value words = makeWords(op, op.getNum());
    auto number = [&](int64_t value) {
      return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value);
    };
    Value row = LLVM::AddrSpaceCastOp::create(b, loc, pointer, op.getPtr());
    LLVM::CallOp::create(
        b, loc, f,
        ValueRange{row, number(op.getNum()),
                   number(op.getLayout() == NVVM::MMALayout::col), words});
    replaceStruct(op, words, 0);
  }

  static int64_t getElement(std::optional<NVVM::MMATypes> type) {
    switch (*type) {
    case NVVM::MMATypes::f16:
      return int64_t(Element::f16);
    case NVVM::MMATypes::bf16:
      return int64_t(Element::bf16);
    case NVVM::MMATypes::tf32:
      return int64_t(Element::tf32);
    case NVVM::MMATypes::u8:
      return int64_t(Element::u8);
    default:
      return int64_t(Element::s8);
    }
  }

  void replaceProduct(NVVM::MmaOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto f = declare("emu_mma", LLVM::LLVMVoidType::get(b.getContext()),
                     {b.getI32Type(), b.getI32Type(), pointer});
    Value words = makeWords(op, op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      LLVM::StoreOp::create(b, loc, operand,
                            getWord(b, loc, words, int32_t(i)));
    auto number = [&](int64_t value) {
      return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value);
    };
    Value lhs = number(getElement(op.getMultiplicandAPtxType())),
          rhs = number(getElement(op.getMultiplicandBPtxType()));
    LLVM::CallOp::create(b, loc, f, ValueRange{lhs, rhs, words});
    replaceStruct(op, words,
                  int32_t(op.getOperandA().size() + op.getOperandB().size()));
  }

  void replaceRounding(NVVM::ConvertFloatToTF32Op op) {
    OpBuilder b(op);
    op.getRes().replaceAllUsesWith(
        call(b, op.getLoc(), "emu_round", b.getI32Type(), op.getSrc()));
    op->erase();
  }

  void replaceByCall(Operation *op, StringRef callee) {
    OpBuilder b(op);
    auto f = declare(callee, LLVM::LLVMVoidType::get(b.getContext()), {});
    LLVM::CallOp::create(b, op->getLoc(), f, ValueRange());
    op->erase();
  }

  /// Makes an address of shared memory that of the block's own.
  void moveShared(LLVM::AddressOfOp op) {
    if (op.getType().getAddressSpace() != 3)
      return;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Value distance =
        call(b, op.getLoc(), "emu_shared_offset", b.getI64Type(), {});
    Value own = LLVM::GEPOp::create(b, op.getLoc(), op.getType(), b.getI8Type(),
                                    op, LLVM::GEPArg(distance));
    op.getResult().replaceAllUsesExcept(own, own.getDefiningOp());
  }

  void replaceMapa(NVVM::MapaOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value distance =
        call(b, loc, "emu_shared_distance", b.getI64Type(), {op.getB()});
    Value theirs =
        LLVM::GEPOp::create(b, loc, op.getA().getType(), b.getI8Type(),
                            op.getA(), LLVM::GEPArg(distance));
    op.getRes().replaceAllUsesWith(
        LLVM::AddrSpaceCastOp::create(b, loc, op.getType(), theirs));
    op->erase();
  }

  void run() {
    module.walk([&](Operation *op) {
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        return moveShared(address);
      if (auto mapa = dyn_cast<NVVM::MapaOp>(op))
        return replaceMapa(mapa);
      if (isa<NVVM::ClusterArriveOp>(op))
        return op->erase();
      if (isa<NVVM::ClusterWaitOp>(op))
        return replaceByCall(op, "emu_cluster_barrier");
      if (isa<NVVM::ClusterId>(op)) {
        OpBuilder b(op);
        op->getResult(0).replaceAllUsesWith(
            call(b, op->getLoc(), "emu_block_rank", b.getI32Type(), {}));
        return op->erase();
      }
      if (auto load = dyn_cast<NVVM::LdMatrixOp>(op))
        return replaceMatrixLoad(load);
      if (auto product = dyn_cast<NVVM::MmaOp>(op))
        return replaceProduct(product);
      if (auto rounding = dyn_cast<NVVM::ConvertFloatToTF32Op>(op))
        return replaceRounding(rounding);
      if (isa<gpu::ThreadIdOp>(op))
        return replaceId(op, "emu_thread_id");
      if (isa<gpu::BlockIdOp>(op))
        return replaceId(op, "emu_block_id");
      if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
        return replaceShuffle(shuffle);
      if (isa<gpu::BarrierOp>(op))
        replaceByCall(op, "emu_barrier");
    });
  }
};

/// An entry point with its arguments in one array of i64.
void addPackedEntry(LLVM::LLVMFuncOp function) {
  OpBuilder b(function->getContext());
  b.setInsertionPointAfter(function);
  Location loc = function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  auto packed = LLVM::LLVMFuncOp::create(
      b, loc, ("emu_" + function.getName()).str(), type);
  b.setInsertionPointToEnd(packed.addEntryBlock(b));
  SmallVector<Value> arguments;
  for (auto [i, t] : llvm::enumerate(function.getArgumentTypes())) {
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(),
                            packed.getArgument(0), LLVM::GEPArg(int32_t(i)));
    arguments.push_back(LLVM::LoadOp::create(b, loc, t, at));
  }
  LLVM::CallOp::create(b, loc, function, arguments);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Moves the device functions to a plain module; shared memory is one buffer
/// per kernel, as blocks run one after the other.
OwningOpRef<ModuleOp> makeHostModule(ModuleOp from) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(from.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  for (auto device : from.getOps<gpu::GPUModuleOp>())
    for (Operation &op : *device.getBody())
      b.clone(op);
  for (auto function : from.getOps<LLVM::LLVMFuncOp>())
    b.clone(*function);
  for (auto global : module->getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != 3)
      continue;
    global.setGlobalType(
        LLVM::LLVMArrayType::get(b.getI8Type(), kMostBlocks * kSharedBytes));
    global.setLinkage(LLVM::Linkage::Internal);
    OpBuilder init =
        OpBuilder::atBlockEnd(&global.getInitializerRegion().emplaceBlock());
    LLVM::ReturnOp::create(init, global.getLoc(),
                           ValueRange(LLVM::ZeroOp::create(
                               init, global.getLoc(), global.getGlobalType())));
  }
  CallEmulator{*module}.run();
  for (auto function : llvm::to_vector(module->getOps<LLVM::LLVMFuncOp>())) {
    for (StringRef name : {"gpu.kernel", "nvvm.kernel", "nvvm.maxntid",
                           "nvvm.minctasm", "nvvm.cluster_dim"})
      function->removeAttr(name);
    if (function->hasAttr("adze.kernel"))
      addPackedEntry(function);
    for (StringRef name :
         {"adze.kernel", "adze.threads", "adze.shared_bytes", "adze.loops"})
      function->removeAttr(name);
  }
  return module;
}

class JITEmulator final : public Emulator {
public:
  JITEmulator(std::unique_ptr<llvm::orc::LLJIT> jit) : jit(std::move(jit)) {}

  int64_t countPrograms(StringRef kernel, const int64_t *symbols) override {
    auto f = jit->lookup((kernel + "_cuda_programs").str());
    return f ? f->toPtr<int64_t(const int64_t *)>()(symbols)
             : (llvm::consumeError(f.takeError()), -1);
  }

  bool runBlock(StringRef entry, Shape shape, int64_t number,
                ArrayRef<int64_t> arguments, ThreadOrder order) override {
    int64_t threads = shape.threads * shape.blocks;
    auto f = jit->lookup(("emu_" + entry).str());
    if (!f) {
      llvm::errs() << llvm::toString(f.takeError()) << "\n";
      return false;
    }
    start = {f->toPtr<Entry>(), arguments.data()};
    while (stacks.size() < size_t(threads))
      stacks.push_back(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Block state;
    state.threads.resize(threads);
    state.number = number;
    state.blockThreads = shape.threads;
    block = &state;
    // By block.
    std::vector<std::vector<unsigned>> turns(shape.blocks);
    for (unsigned i = 0; i < threads; ++i) {
      Block::Thread &t = state.threads[i];
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = stacks[i];
      t.context.uc_stack.ss_size = kStackBytes;
      t.context.uc_link = nullptr;
      makecontext(&t.context, runThread, 0);
      turns[i / shape.threads].push_back(i);
    }
    if (order == ThreadOrder::backward) {
      std::reverse(turns.begin(), turns.end());
      for (auto &own : turns)
        std::reverse(own.begin(), own.end());
    }
    std::mt19937 random(number);
    while (!state.threads[0].done) {
      if (order == ThreadOrder::shuffled)
        std::shuffle(turns.begin(), turns.end(), random);
      for (auto &own : turns) {
        bool waits = false;
        while (!waits) {
          if (order == ThreadOrder::shuffled)
            std::shuffle(own.begin(), own.end(), random);
          for (unsigned i : own) {
            state.current = i;
            swapcontext(&state.scheduler, &state.threads[i].context);
          }
          if (!haveMet(entry, own))
            return false;
          const Block::Thread &first = state.threads[own[0]];
          waits = first.done || first.kind == kClusterBarrier;
        }
      }
      for (auto &own : turns)
        if (!haveMet(entry, {turns[0][0], own[0]}))
          return false;
    }
    return true;
  }

private:
  /// Returns true if the threads wait at the same point.
  static bool haveMet(StringRef entry, ArrayRef<unsigned> threads) {
    const Block::Thread &first = block->threads[threads[0]];
    for (unsigned i : threads.drop_front()) {
      const Block::Thread &other = block->threads[i];
      if (other.kind == first.kind && other.meetings == first.meetings)
        continue;
      llvm::errs() << entry << ": thread " << threads[0] << " is at "
                   << first.kind << " " << first.meetings << ", thread " << i
                   << " at " << other.kind << " " << other.meetings << "\n";
      return false;
    }
    return true;
  }

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<void *> stacks;
};

llvm::Expected<std::unique_ptr<Emulator>> compile(ModuleOp module) {
  using namespace llvm::orc;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, *context);
  if (!llvmModule)
    return llvm::createStringError("no LLVM IR");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto jit = LLJITBuilder().setJITTargetMachineBuilder(*machine).create();
  if (!jit)
    return jit.takeError();
  llvmModule->setDataLayout((*jit)->getDataLayout());
  llvmModule->setTargetTriple((*jit)->getTargetTriple());
  SymbolMap symbols;
  auto add = [&](const char *name, auto *f) {
    symbols[(*jit)->mangleAndIntern(name)] = {ExecutorAddr::fromPtr(f),
                                              llvm::JITSymbolFlags::Exported};
  };
  add("emu_thread_id", threadId);
  add("emu_block_id", blockId);
  add("emu_barrier", barrier);
  add("emu_cluster_barrier", clusterBarrier);
  add("emu_block_rank", blockRank);
  add("emu_shared_offset", sharedOffset);
  add("emu_shared_distance", sharedDistance);
  add("emu_shuffle", shuffle);
  add("emu_ldmatrix", loadMatrices);
  add("emu_mma", multiplyMatrices);
  add("emu_round", roundToTF32);
  if (llvm::Error problem =
          (*jit)->getMainJITDylib().define(absoluteSymbols(symbols)))
    return problem;
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error problem = (*jit)->addIRModule(
          ThreadSafeModule(std::move(llvmModule), std::move(context))))
    return problem;
  return std::make_unique<JITEmulator>(std::move(*jit));
}

} // namespace

std::unique_ptr<Emulator> Emulator::create(ModuleOp from) {
  MLIRContext *context = from.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = makeHostModule(from);
  PassManager manager(context);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(*module)))
    return nullptr;
  auto emulator = compile(*module);
  if (emulator)
    return std::move(*emulator);
  llvm::errs() << llvm::toString(emulator.takeError()) << "\n";
  return nullptr;
}

} // namespace adze::test
