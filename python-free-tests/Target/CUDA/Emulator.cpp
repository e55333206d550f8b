// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The emulator: gpu operations become calls of the functions below, and the
// other code is compiled for the host.
#include "Emulator.h"
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
#include <array>
#include <cmath>
#include <random>
#include <sys/mman.h>
#include <ucontext.h>

using namespace mlir;

namespace adze::test {

namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr int64_t kSharedBytes = 256 << 10;

/// The block that runs now.
struct Block {
  struct Thread {
    ucontext_t context;
    bool done = false;
    int64_t meetings = 0;     ///< barriers and shuffles so far
    const char *kind = "end"; ///< of the meeting that it waits at
    uint32_t slots[2] = {0, 0};
    const char *row[2] = {nullptr, nullptr};  ///< of a matrix
    std::array<uint32_t, 6> operands[2] = {}; ///< four of a, two of b
  };
  std::vector<Thread> threads;
  ucontext_t scheduler;
  int64_t number = 0;
  unsigned current = 0;
};
Block *block = nullptr;

/// Waits until all other threads have arrived at the same point.
void meet(const char *kind) {
  Block::Thread &me = block->threads[block->current];
  me.kind = kind;
  ++me.meetings;
  swapcontext(&me.context, &block->scheduler);
}

int64_t threadId() { return block->current; }
int64_t blockId() { return block->number; }
void barrier() { meet("barrier"); }
uint32_t shuffle(uint32_t value, uint32_t mask) {
  unsigned self = block->current;
  Block::Thread &me = block->threads[self];
  // Two slots: a fast thread may be at its next shuffle already.
  unsigned slot = me.meetings & 1;
  me.slots[slot] = value;
  meet("shuffle");
  return block->threads[self ^ mask].slots[slot];
}

constexpr unsigned kLanes = 32, kRows = 8;

/// Loads `count` matrices of 8 rows of 16 bytes, whose addresses the lanes
/// have: lane l gets elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4, or
/// of column l / 4 of the transposed matrix (PTX ISA, ldmatrix).
void loadMatrices(const char *row, uint32_t count, uint32_t transposed,
                  uint32_t *out) {
  unsigned self = block->current, lane = self % kLanes, warp = self - lane;
  Block::Thread &me = block->threads[self];
  unsigned slot = me.meetings & 1;
  me.row[slot] = row;
  meet("ldmatrix");
  unsigned first = lane % 4 * 2, other = lane / 4;
  for (uint32_t i = 0; i < count; ++i) {
    uint16_t pair[2];
    for (unsigned j = 0; j < 2; ++j) {
      unsigned y = transposed ? first + j : other,
               x = transposed ? other : first + j;
      memcpy(&pair[j],
             block->threads[warp + i * kRows + y].row[slot] +
                 x * sizeof(pair[j]),
             sizeof(pair[j]));
    }
    memcpy(&out[i], pair, sizeof(pair));
  }
}

/// Element types of a product, and the number of elements per word.
enum class Element : uint32_t { f16, bf16, tf32, s8, u8 };
unsigned countInWord(Element element) {
  return element == Element::tf32                              ? 1
         : element == Element::f16 || element == Element::bf16 ? 2
                                                               : 4;
}

double decode(uint32_t word, unsigned i, Element element) {
  unsigned bits = 32 / countInWord(element);
  uint32_t part = word >> (i * bits);
  switch (element) {
  case Element::tf32: {
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
  }
  case Element::s8:
    return int8_t(part);
  case Element::u8:
    return uint8_t(part);
  default:
    return llvm::APFloat(element == Element::bf16 ? llvm::APFloat::BFloat()
                                                  : llvm::APFloat::IEEEhalf(),
                         llvm::APInt(bits, part & 0xffff))
        .convertToDouble();
  }
}

/// Rounds to 10 fraction bits, ties away from zero.
uint32_t roundToTF32(float value) {
  constexpr uint32_t dropped = (1 << 13) - 1;
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return std::isfinite(value) ? (bits + (dropped + 1) / 2) & ~dropped : bits;
}

/// Adds a product of 16 x 32 bytes and 32 x 8 bytes to the four sums of a lane,
/// which follow its six words of operands (PTX ISA, mma.m16n8k16 and others).
void multiplyMatrices(Element lhs, Element rhs, uint32_t *words) {
  unsigned self = block->current, lane = self % kLanes, warp = self - lane;
  Block::Thread &me = block->threads[self];
  unsigned slot = me.meetings & 1;
  std::copy_n(words, me.operands[slot].size(), me.operands[slot].begin());
  meet("mma");
  bool isInteger = lhs == Element::s8 || lhs == Element::u8;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned row = lane / 4, high = i / 2, column = lane % 4 * 2 + i % 2;
    double total = 0;
    // Four lanes have a row of a or a column of b: a word each of two parts.
    for (unsigned part = 0; part < 2; ++part)
      for (unsigned holder = 0; holder < 4; ++holder) {
        uint32_t a = block->threads[warp + row * 4 + holder]
                         .operands[slot][high + 2 * part],
                 b = block->threads[warp + column * 4 + holder]
                         .operands[slot][4 + part];
        for (unsigned j = 0; j < countInWord(lhs); ++j)
          total += decode(a, j, lhs) * decode(b, j, rhs);
      }
    uint32_t &sum = words[6 + i];
    if (isInteger) {
      sum += uint32_t(int32_t(total));
      continue;
    }
    float before;
    memcpy(&before, &sum, sizeof(before));
    before = float(before + total);
    memcpy(&sum, &before, sizeof(sum));
  }
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

  void replaceId(Operation *op, StringRef callee) {
    OpBuilder b(op);
    auto f = declare(callee, b.getI64Type(), {});
    Value id =
        LLVM::CallOp::create(b, op->getLoc(), f, ValueRange()).getResult();
    op->getResult(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), id)
            .getResult());
    op->erase();
  }

  void replaceShuffle(gpu::ShuffleOp op) {
    OpBuilder b(op);
    auto f = declare("emu_shuffle", b.getI32Type(),
                     {b.getI32Type(), b.getI32Type()});
    Location loc = op.getLoc();
    Type type = op.getValue().getType();
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), op.getValue());
    Value got =
        LLVM::CallOp::create(b, loc, f, ValueRange{bits, op.getOffset()})
            .getResult();
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
    auto f = declare("emu_round", b.getI32Type(), {b.getF32Type()});
    op.getRes().replaceAllUsesWith(
        LLVM::CallOp::create(b, op.getLoc(), f, op.getSrc()).getResult());
    op->erase();
  }

  void run() {
    module.walk([&](Operation *op) {
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
      if (!isa<gpu::BarrierOp>(op))
        return;
      OpBuilder b(op);
      auto f =
          declare("emu_barrier", LLVM::LLVMVoidType::get(b.getContext()), {});
      LLVM::CallOp::create(b, op->getLoc(), f, ValueRange());
      op->erase();
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
    global.setGlobalType(LLVM::LLVMArrayType::get(b.getI8Type(), kSharedBytes));
    global.setLinkage(LLVM::Linkage::Internal);
    OpBuilder init =
        OpBuilder::atBlockEnd(&global.getInitializerRegion().emplaceBlock());
    LLVM::ReturnOp::create(init, global.getLoc(),
                           ValueRange(LLVM::ZeroOp::create(
                               init, global.getLoc(), global.getGlobalType())));
  }
  CallEmulator{*module}.run();
  for (auto function : llvm::to_vector(module->getOps<LLVM::LLVMFuncOp>())) {
    for (StringRef name :
         {"gpu.kernel", "nvvm.kernel", "nvvm.maxntid", "nvvm.minctasm"})
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

  bool runBlock(StringRef entry, int64_t threads, int64_t number,
                ArrayRef<int64_t> arguments, ThreadOrder order) override {
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
    block = &state;
    std::vector<unsigned> turns(threads);
    for (unsigned i = 0; i < threads; ++i) {
      Block::Thread &t = state.threads[i];
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = stacks[i];
      t.context.uc_stack.ss_size = kStackBytes;
      t.context.uc_link = nullptr;
      makecontext(&t.context, runThread, 0);
      turns[i] = order == ThreadOrder::backward ? threads - 1 - i : i;
    }
    std::mt19937 random(number);
    while (!state.threads[0].done) {
      if (order == ThreadOrder::shuffled)
        std::shuffle(turns.begin(), turns.end(), random);
      for (unsigned i : turns) {
        state.current = i;
        swapcontext(&state.scheduler, &state.threads[i].context);
      }
      for (unsigned i = 1; i < threads; ++i)
        if (state.threads[i].kind != state.threads[0].kind ||
            state.threads[i].meetings != state.threads[0].meetings) {
          llvm::errs() << entry << ": thread 0 is at " << state.threads[0].kind
                       << " " << state.threads[0].meetings << ", thread " << i
                       << " at " << state.threads[i].kind << " "
                       << state.threads[i].meetings << "\n";
          return false;
        }
    }
    return true;
  }

private:
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
