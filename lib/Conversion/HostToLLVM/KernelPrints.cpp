// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers prints in kernels to calls of the run time.
#include "KernelPrints.h"
#include "Dialect/Tile/IR/Faults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace adze {

/// Returns a pointer to the text, which is a constant of the module.
static Value createText(OpBuilder &b, tile::PrintOp print, StringRef use,
                        StringRef text) {
  auto module = print->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name);)
    name = ("adze_print." + use + "." + Twine(number++)).str();
  return LLVM::createGlobalString(print.getLoc(), b, name,
                                  (text + Twine('\0')).str(),
                                  LLVM::Linkage::Private);
}

// These are values of DLDataTypeCode in dlpack.h.
constexpr int64_t intCode = 0, floatCode = 2;

/// Returns the numbers that the print function of adze_host_table reads.
static SmallVector<Value> getNumbers(OpBuilder &b, tile::PrintOp print) {
  Location loc = print.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  auto memory = cast<MemRefType>(print.getValue().getType());
  bool isFloat = isa<FloatType>(memory.getElementType());
  SmallVector<Value> numbers = {constant(isFloat ? floatCode : intCode),
                                constant(memory.getRank())};
  for (int64_t size : memory.getShape())
    numbers.push_back(constant(size));
  numbers.push_back(constant(print.getPrograms().size()));
  for (Value program : print.getPrograms())
    numbers.push_back(
        arith::IndexCastOp::create(b, loc, b.getI64Type(), program));
  return numbers;
}

static void lowerPrint(func::FuncOp kernel, tile::PrintOp print,
                       Value function) {
  OpBuilder b(print);
  Location loc = print.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  SmallVector<Value> numbers = getNumbers(b, print);
  OpBuilder atEntry = OpBuilder::atBlockBegin(&kernel.front());
  Value count = LLVM::ConstantOp::create(
      atEntry, loc, atEntry.getI64IntegerAttr(numbers.size()));
  Value list = LLVM::AllocaOp::create(atEntry, loc, pointer, i64, count);
  for (auto [index, number] : llvm::enumerate(numbers)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, i64, list,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, loc, number, place);
  }
  Value values =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, print.getValue());
  values = arith::IndexCastOp::create(b, loc, i64, values);
  values = LLVM::IntToPtrOp::create(b, loc, pointer, values);
  SmallVector<Value> operands = {
      function, createText(b, print, "kernel", kernel.getName()),
      createText(b, print, "label", print.getLabel()), list, values};
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, pointer, pointer});
  LLVM::CallOp::create(b, loc, type, operands);
  print.erase();
}

void lowerPrints(func::FuncOp kernel, Value function) {
  SmallVector<tile::PrintOp> prints;
  kernel.walk([&](tile::PrintOp print) { prints.push_back(print); });
  for (tile::PrintOp print : prints)
    lowerPrint(kernel, print, function);
}

} // namespace adze
