// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tile kernels of a file, for operators of a model (--kernels).
#include "KernelLibrary.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace adze {

LogicalResult KernelLibrary::load(StringRef path, MLIRContext &context) {
  module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return failure();
  if (module->getOps<tile::KernelOp>().empty())
    return module->emitError("expected tile.kernel ops in ") << path;
  return success();
}

/// "com.example.Op" is Op of com.example, "ai.onnx.Op" ONNX's own, and "Op"
/// that of any domain but ONNX's.
tile::KernelOp KernelLibrary::find(StringRef domain, StringRef op) const {
  tile::KernelOp inAnyDomain;
  for (auto kernel : module->getOps<tile::KernelOp>()) {
    auto [kernelDomain, name] = kernel.getSymName().rsplit('.');
    if (name.empty() && kernelDomain == op && !domain.empty())
      inAnyDomain = kernel;
    if (name == op && kernelDomain == (domain.empty() ? "ai.onnx" : domain))
      return kernel;
  }
  return inAnyDomain;
}

bool KernelLibrary::has(StringRef domain, StringRef op) const {
  return bool(find(domain, op));
}

namespace {
/// Fits one kernel to one node.
class Instantiation {
public:
  Instantiation(tile::KernelOp kernel, const CustomKernels::Call &call,
                std::string &error)
      : kernel(cast<FunctionOpInterface>(kernel.getOperation())), call(call),
        error(error) {}

  LogicalResult run();
  FlatSymbolRefAttr getInstance(ModuleOp module);

  SmallVector<Type> resultTypes;

private:
  LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return failure();
  }
  LogicalResult matchOperand(unsigned index);
  LogicalResult checkOperand(unsigned index);
  LogicalResult makeResult(unsigned index);
  LogicalResult bindParameters();
  /// The dims of an argument in terms of the model's symbols; null where a
  /// symbol of the kernel is not bound.
  graph::Dims getDims(unsigned index);
  AffineMapAttr getDimsAttr(unsigned index) {
    return kernel.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
  }

  FunctionOpInterface kernel;
  const CustomKernels::Call &call;
  std::string &error;
  llvm::SmallDenseMap<unsigned, AffineExpr> symbols; // kernel's to model's
  NamedAttrList parameters;
};
} // namespace

/// Tile kernels do not know signs.
static Type getSignless(Type type) {
  return type.isInteger()
             ? IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth())
             : type;
}

/// Binds the symbols that stand alone as a dim of the argument.
LogicalResult Instantiation::matchOperand(unsigned index) {
  Value operand = call.operands[index];
  if (!operand)
    return fail("expected operand " + llvm::Twine(index) + " to be there");
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  auto wanted = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  if (!type || type.getRank() != wanted.getRank() ||
      getSignless(type.getElementType()) != wanted.getElementType())
    return fail("expected operand " + llvm::Twine(index) + " to fit " +
                debugString(wanted) + " of the kernel, but got " +
                debugString(operand.getType()));
  AffineMapAttr map = getDimsAttr(index);
  if (!map && !wanted.hasStaticShape())
    return fail("expected '" + host::dimsAttr.str() + "' on dynamic argument " +
                llvm::Twine(index) + " of the kernel");
  for (auto [dim, expr] : llvm::enumerate(graph::getDims(operand))) {
    AffineExpr wantedDim = map ? map.getValue().getResult(dim) : AffineExpr();
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(wantedDim);
    if (!expr)
      return fail("expected dims known from the inputs' shapes of operand " +
                  llvm::Twine(index) + ", but got " + debugString(type));
    if (symbol)
      symbols.try_emplace(symbol.getPosition(), expr);
  }
  return success();
}

graph::Dims Instantiation::getDims(unsigned index) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  AffineMapAttr map = getDimsAttr(index);
  MLIRContext *context = kernel->getContext();
  graph::Dims dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!map || !type.isDynamicDim(dim)) {
      dims.push_back(getAffineConstantExpr(type.getDimSize(dim), context));
      continue;
    }
    AffineExpr expr = map.getValue().getResult(dim);
    SmallVector<AffineExpr> replacements;
    bool isBound = true;
    for (unsigned s = 0; s < map.getValue().getNumSymbols(); ++s) {
      AffineExpr bound = symbols.lookup(s);
      isBound &= bound || !expr.isFunctionOfSymbol(s);
      replacements.push_back(bound ? bound : getAffineConstantExpr(0, context));
    }
    dims.push_back(isBound ? graph::normalize(expr.replaceSymbols(replacements))
                           : AffineExpr());
  }
  return dims;
}

/// All dims that the kernel says are the operand's.
LogicalResult Instantiation::checkOperand(unsigned index) {
  graph::Dims wanted = getDims(index),
              given = graph::getDims(call.operands[index]);
  for (auto [dim, pair] : llvm::enumerate(llvm::zip(wanted, given))) {
    auto [expected, got] = pair;
    if (!expected || !graph::areEqual(expected, got))
      return fail("expected dim " + llvm::Twine(dim) + " of operand " +
                  llvm::Twine(index) + " to be " +
                  (expected ? debugString(expected) : "known") + ", but got " +
                  debugString(got));
  }
  return success();
}

LogicalResult Instantiation::makeResult(unsigned index) {
  graph::Dims dims = getDims(index);
  if (llvm::is_contained(dims, AffineExpr()))
    return fail("expected the dims of argument " + llvm::Twine(index) +
                " of the kernel to follow from its inputs'");
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  resultTypes.push_back(graph::makeType(type.getElementType(), dims));
  return success();
}

/// Integer attributes of the node are parameters of the kernel.
LogicalResult Instantiation::bindParameters() {
  llvm::StringMap<bool> known;
  kernel->walk([&](tile::ParamOp param) { known[param.getName()] = true; });
  if (auto given = kernel->getAttrOfType<DictionaryAttr>("tile.params"))
    parameters.append(given.begin(), given.end());
  Builder builder(kernel->getContext());
  for (const auto &[name, value] : call.integers) {
    if (!known.contains(name))
      return fail("expected the kernel to have a tile.param \"" + name +
                  "\" for the node's attribute");
    parameters.set(name, builder.getI64IntegerAttr(value));
  }
  return success();
}

LogicalResult Instantiation::run() {
  size_t numInputs = call.operands.size();
  if (kernel.getNumArguments() != numInputs + call.numOutputs)
    return fail("expected " + llvm::Twine(kernel.getNumArguments()) +
                " inputs and outputs, as the kernel has, but got " +
                llvm::Twine(numInputs + call.numOutputs));
  for (unsigned i = 0; i < numInputs; ++i)
    if (failed(matchOperand(i)))
      return failure();
  for (unsigned i = 0; i < numInputs; ++i)
    if (failed(checkOperand(i)))
      return failure();
  for (unsigned i = 0; i < call.numOutputs; ++i)
    if (failed(makeResult(numInputs + i)))
      return failure();
  return bindParameters();
}

/// A copy of the kernel with the model's symbols, or an equal one that is
/// there.
FlatSymbolRefAttr Instantiation::getInstance(ModuleOp module) {
  auto copy = cast<FunctionOpInterface>(kernel->clone());
  for (unsigned i = 0; i < copy.getNumArguments(); ++i)
    if (getDimsAttr(i)) {
      graph::Dims dims = getDims(i);
      auto map = AffineMap::get(0, graph::countSymbols(dims), dims,
                                module.getContext());
      copy.setArgAttr(i, host::dimsAttr, AffineMapAttr::get(map));
    }
  if (!parameters.empty())
    copy->setAttr("tile.params", parameters.getDictionary(module.getContext()));
  std::string base;
  for (char c : call.op)
    base += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  for (unsigned number = 0;; ++number) {
    std::string name = base + "_custom_" + std::to_string(number);
    SymbolTable::setSymbolName(copy, name);
    Operation *other = module.lookupSymbol(name);
    if (!other) {
      module.push_back(copy);
      return FlatSymbolRefAttr::get(module.getContext(), name);
    }
    if (OperationEquivalence::isEquivalentTo(
            other, copy, OperationEquivalence::IgnoreLocations)) {
      copy->erase();
      return FlatSymbolRefAttr::get(module.getContext(), name);
    }
  }
}

FailureOr<SmallVector<Value>> KernelLibrary::create(OpBuilder &builder,
                                                    Location loc,
                                                    const Call &call,
                                                    std::string &error) {
  auto function =
      dyn_cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  if (!function) {
    error = "unsupported: a custom kernel inside a graph of a graph";
    return failure();
  }
  tile::KernelOp kernel = find(call.domain, call.op);
  if (auto ids = kernel.getProgramId(); ids && ids.getOrdered()) {
    error = "unsupported: a custom kernel whose programs run in order";
    return failure();
  }
  Instantiation instance(kernel, call, error);
  if (failed(instance.run()))
    return failure();
  auto launch = host::LaunchOp::create(
      builder, loc, instance.getInstance(function->getParentOfType<ModuleOp>()),
      instance.resultTypes, call.operands);
  return SmallVector<Value>(launch.getResults());
}

} // namespace adze
