// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tile kernels and host functions of a file, for operators of a model
// (--kernels).
#include "KernelLibrary.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/External.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace adze {

/// Returns true for the implementation of an operator: a kernel, or a
/// declaration of a host function.
static bool isEntry(Operation &op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return isa<tile::KernelOp>(op) || (function && function.isDeclaration());
}

LogicalResult KernelLibrary::load(StringRef path, MLIRContext &context) {
  module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return failure();
  if (llvm::none_of(*module->getBody(), isEntry))
    return module->emitError(
               "expected tile.kernel ops or private declarations of functions "
               "in ")
           << path;
  return success();
}

/// Finds an operator: "com.example.Op" is Op of com.example, "ai.onnx.Op" is
/// that of ONNX, and "Op" that of any domain except ONNX.
FunctionOpInterface KernelLibrary::find(StringRef domain, StringRef op) const {
  FunctionOpInterface inAnyDomain;
  for (Operation &entry : *module->getBody()) {
    if (!isEntry(entry))
      continue;
    auto function = cast<FunctionOpInterface>(entry);
    auto [entryDomain, name] = function.getName().rsplit('.');
    if (name.empty() && entryDomain == op && !domain.empty())
      inAnyDomain = function;
    if (name == op && entryDomain == (domain.empty() ? "ai.onnx" : domain))
      return function;
  }
  return inAnyDomain;
}

bool KernelLibrary::has(StringRef domain, StringRef op) const {
  return bool(find(domain, op));
}

namespace {
/// Binds the dims of a declaration, which has its own symbols, to those of the
/// operands of a node. A null dim accepts any size.
class DimBinding {
public:
  explicit DimBinding(std::string &error) : error(error) {}

  /// Binds the symbols that are dims of the operand by themselves.
  LogicalResult bind(unsigned index, Value operand,
                     const graph::Dims &declared);
  /// Checks all dims of the operand after its symbols are bound.
  LogicalResult check(unsigned index, Value operand,
                      const graph::Dims &declared) const;
  /// Returns the dims in terms of the symbols of the model; null if a symbol is
  /// not bound.
  graph::Dims resolve(const graph::Dims &declared) const;
  /// Binds a symbol unless it is bound.
  void bindSymbol(unsigned symbol, AffineExpr size) {
    symbols.try_emplace(symbol, size);
  }

private:
  LogicalResult fail(const llvm::Twine &message) const {
    error = message.str();
    return failure();
  }

  std::string &error;
  // Maps declared symbols to those of the model.
  llvm::SmallDenseMap<unsigned, AffineExpr> symbols;
};
} // namespace

LogicalResult DimBinding::bind(unsigned index, Value operand,
                               const graph::Dims &declared) {
  for (auto [expr, wanted] : llvm::zip(graph::getDims(operand), declared)) {
    if (!expr)
      return fail("expected dims known from the inputs' shapes of operand " +
                  llvm::Twine(index) + ", but got " +
                  debugString(operand.getType()));
    if (auto symbol = dyn_cast_if_present<AffineSymbolExpr>(wanted))
      bindSymbol(symbol.getPosition(), expr);
  }
  return success();
}

graph::Dims DimBinding::resolve(const graph::Dims &declared) const {
  graph::Dims dims;
  for (AffineExpr expr : declared) {
    SmallVector<AffineExpr> replacements;
    bool isBound = bool(expr);
    for (unsigned s = 0; isBound && s < host::getNumSymbolsUsed(expr); ++s) {
      AffineExpr bound = symbols.lookup(s);
      isBound &= bound || !expr.isFunctionOfSymbol(s);
      replacements.push_back(
          bound ? bound : getAffineConstantExpr(0, expr.getContext()));
    }
    dims.push_back(isBound ? graph::normalize(expr.replaceSymbols(replacements))
                           : AffineExpr());
  }
  return dims;
}

LogicalResult DimBinding::check(unsigned index, Value operand,
                                const graph::Dims &declared) const {
  graph::Dims wanted = resolve(declared), given = graph::getDims(operand);
  for (auto [dim, expected] : llvm::enumerate(wanted))
    if (declared[dim] && (!expected || !graph::areEqual(expected, given[dim])))
      return fail("expected dim " + llvm::Twine(dim) + " of operand " +
                  llvm::Twine(index) + " to be " +
                  (expected ? debugString(expected) : "known") + ", but got " +
                  debugString(given[dim]));
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Instantiates one kernel for one node.
class Instantiation {
public:
  Instantiation(FunctionOpInterface kernel, const CustomKernels::Call &call,
                std::string &error)
      : kernel(kernel), call(call), error(error), binding(error) {}

  LogicalResult run();
  FlatSymbolRefAttr getInstance(ModuleOp module);

  SmallVector<Type> resultTypes;

private:
  LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return failure();
  }
  LogicalResult matchOperand(unsigned index);
  LogicalResult makeResult(unsigned index);
  LogicalResult bindParameters();
  /// Returns the dims of an argument in terms of the symbols of the kernel.
  graph::Dims getDeclaredDims(unsigned index);
  AffineMapAttr getDimsAttr(unsigned index) {
    return kernel.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
  }

  FunctionOpInterface kernel;
  const CustomKernels::Call &call;
  std::string &error;
  DimBinding binding; // of the symbols of the kernel
  NamedAttrList parameters;
};
} // namespace

/// Tile kernels have signless integers.
static Type getSignless(Type type) {
  return type.isInteger()
             ? IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth())
             : type;
}

LogicalResult Instantiation::matchOperand(unsigned index) {
  Value operand = call.operands[index];
  if (!operand)
    return fail("expected operand " + llvm::Twine(index) + " to be present");
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  auto wanted = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  if (!type || type.getRank() != wanted.getRank() ||
      getSignless(type.getElementType()) != wanted.getElementType())
    return fail("expected operand " + llvm::Twine(index) + " to fit " +
                debugString(wanted) + " of the kernel, but got " +
                debugString(operand.getType()));
  if (!getDimsAttr(index) && !wanted.hasStaticShape())
    return fail("expected '" + host::dimsAttr.str() + "' on dynamic argument " +
                llvm::Twine(index) + " of the kernel");
  return binding.bind(index, operand, getDeclaredDims(index));
}

graph::Dims Instantiation::getDeclaredDims(unsigned index) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  AffineMapAttr map = getDimsAttr(index);
  graph::Dims dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims.push_back(map && type.isDynamicDim(dim)
                       ? map.getValue().getResult(dim)
                       : getAffineConstantExpr(type.getDimSize(dim),
                                               kernel->getContext()));
  return dims;
}

LogicalResult Instantiation::makeResult(unsigned index) {
  graph::Dims dims = binding.resolve(getDeclaredDims(index));
  if (llvm::is_contained(dims, AffineExpr()))
    return fail("expected the dims of argument " + llvm::Twine(index) +
                " of the kernel to follow from its inputs'");
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  resultTypes.push_back(graph::makeType(type.getElementType(), dims));
  return success();
}

/// Binds integer attributes of the node to parameters of the kernel.
LogicalResult Instantiation::bindParameters() {
  llvm::StringMap<bool> known;
  kernel->walk([&](tile::ParamOp param) { known[param.getName()] = true; });
  if (auto given = kernel->getAttrOfType<DictionaryAttr>("tile.params"))
    parameters.append(given.begin(), given.end());
  for (NamedAttribute attribute : call.attributes) {
    StringRef name = attribute.getName();
    if (!isa<IntegerAttr>(attribute.getValue()))
      return fail("unsupported: expected integer attributes for a custom "
                  "kernel, but got '" +
                  name + "'; a host function takes others");
    if (!known.contains(name))
      return fail("expected the kernel to have a tile.param \"" + name +
                  "\" for the node's attribute");
    parameters.set(name, attribute.getValue());
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
    if (failed(binding.check(i, call.operands[i], getDeclaredDims(i))))
      return failure();
  for (unsigned i = 0; i < call.numOutputs; ++i)
    if (failed(makeResult(numInputs + i)))
      return failure();
  return bindParameters();
}

/// Returns a copy of the kernel with the symbols of the model, or an equal
/// existing one.
FlatSymbolRefAttr Instantiation::getInstance(ModuleOp module) {
  auto copy = cast<FunctionOpInterface>(kernel->clone());
  for (unsigned i = 0; i < copy.getNumArguments(); ++i)
    if (getDimsAttr(i)) {
      graph::Dims dims = binding.resolve(getDeclaredDims(i));
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

static FailureOr<SmallVector<Value>>
createLaunch(OpBuilder &builder, Location loc, FunctionOpInterface kernel,
             const CustomKernels::Call &call, std::string &error) {
  auto function =
      dyn_cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  if (!function) {
    error = "unsupported: a custom kernel inside a graph of a graph";
    return failure();
  }
  if (cast<tile::KernelOp>(kernel.getOperation()).isOrdered()) {
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

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

/// An attribute of an argument of a declaration: the input is optional.
static constexpr llvm::StringLiteral optionalAttr = "adze.optional";
/// An attribute of a result of type none: it has the type and shape of that
/// operand.
static constexpr llvm::StringLiteral likeAttr = "adze.like";

namespace {
/// Binds one declaration of a host function to one node.
class HostFunction {
public:
  HostFunction(FunctionOpInterface declaration, const CustomKernels::Call &call,
               std::string &error)
      : declaration(declaration), call(call), error(error), binding(error) {}

  LogicalResult run();

  SmallVector<Value> operands;
  SmallVector<int64_t> inputs; // indices of operands; -1: omitted
  SmallVector<Type> resultTypes;
  SmallVector<int64_t> told; // symbols of data-dependent sizes

private:
  LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return failure();
  }
  Value getOperand(unsigned index) {
    return index < call.operands.size() ? call.operands[index] : Value();
  }
  LogicalResult takeOperand(unsigned index);
  LogicalResult checkOperand(unsigned index);
  LogicalResult makeResult(unsigned index);
  LogicalResult makeLike(unsigned index);

  FunctionOpInterface declaration;
  const CustomKernels::Call &call;
  std::string &error;
  DimBinding binding;
};
} // namespace

LogicalResult HostFunction::takeOperand(unsigned index) {
  Value operand = getOperand(index);
  if (!operand) {
    inputs.push_back(-1);
    if (declaration.getArgAttr(index, optionalAttr))
      return success();
    return fail("expected operand " + llvm::Twine(index) +
                " to be present, or '" + optionalAttr + "' on argument " +
                llvm::Twine(index) + " of the declaration");
  }
  inputs.push_back(operands.size());
  operands.push_back(operand);
  Type wanted = declaration.getArgumentTypes()[index];
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  auto tensor = dyn_cast<RankedTensorType>(wanted);
  bool fits = tensor ? type && type.getRank() == tensor.getRank() &&
                           type.getElementType() == tensor.getElementType()
                     : type && isa<NoneType>(wanted);
  if (!fits || graph::isHandle(type))
    return fail("expected operand " + llvm::Twine(index) + " to fit " +
                debugString(wanted) + " of the declaration, but got " +
                debugString(operand.getType()));
  graph::Dims any(type.getRank());
  return binding.bind(index, operand, tensor ? graph::getDims(tensor) : any);
}

LogicalResult HostFunction::checkOperand(unsigned index) {
  auto tensor =
      dyn_cast<RankedTensorType>(declaration.getArgumentTypes()[index]);
  Value operand = getOperand(index);
  if (!tensor || !operand)
    return success();
  return binding.check(index, operand, graph::getDims(tensor));
}

LogicalResult HostFunction::makeLike(unsigned index) {
  auto like = dyn_cast_if_present<IntegerAttr>(
      declaration.getResultAttr(index, likeAttr));
  Value operand =
      like && like.getInt() >= 0 ? getOperand(like.getInt()) : Value();
  if (!operand)
    return fail("expected '" + likeAttr + "' on result " + llvm::Twine(index) +
                " of the declaration, with the number of an operand that is "
                "there");
  resultTypes.push_back(operand.getType());
  return success();
}

LogicalResult HostFunction::makeResult(unsigned index) {
  Type wanted = declaration.getResultTypes()[index];
  if (isa<NoneType>(wanted))
    return makeLike(index);
  auto tensor = dyn_cast<RankedTensorType>(wanted);
  if (!tensor)
    return fail("expected a ranked tensor or none as result " +
                llvm::Twine(index) + " of the declaration, but got " +
                debugString(wanted));
  graph::Dims declared = graph::getDims(tensor);
  graph::Dims dims = binding.resolve(declared);
  for (auto [dim, expr] : llvm::zip(dims, declared)) {
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(expr);
    if (!dim && expr && !symbol)
      return fail("expected a data-dependent size of result " +
                  llvm::Twine(index) + " to be a symbol, but got " +
                  debugString(expr));
    if (dim)
      continue;
    // Another dim of this result may have bound the symbol.
    if (symbol)
      dim = binding.resolve({expr}).front();
    if (dim)
      continue;
    dim = call.makeSymbol();
    told.push_back(cast<AffineSymbolExpr>(dim).getPosition());
    if (symbol)
      binding.bindSymbol(symbol.getPosition(), dim);
  }
  resultTypes.push_back(graph::makeType(tensor.getElementType(), dims));
  return success();
}

LogicalResult HostFunction::run() {
  unsigned numArguments = declaration.getNumArguments(),
           numResults = declaration.getNumResults();
  if (call.operands.size() > numArguments || call.numOutputs > numResults)
    return fail("expected at most " + llvm::Twine(numArguments) +
                " inputs and " + llvm::Twine(numResults) +
                " outputs, as the declaration has, but got " +
                llvm::Twine(call.operands.size()) + " and " +
                llvm::Twine(call.numOutputs));
  for (unsigned i = 0; i < numArguments; ++i)
    if (failed(takeOperand(i)))
      return failure();
  for (unsigned i = 0; i < numArguments; ++i)
    if (failed(checkOperand(i)))
      return failure();
  for (unsigned i = 0; i < numResults; ++i)
    if (failed(makeResult(i)))
      return failure();
  return success();
}

static FailureOr<SmallVector<Value>>
createCall(OpBuilder &builder, Location loc, FunctionOpInterface declaration,
           const CustomKernels::Call &call, std::string &error) {
  HostFunction function(declaration, call, error);
  if (failed(function.run()))
    return failure();
  std::string name = (call.domain.empty() ? "ai.onnx" : call.domain).str() +
                     "." + call.op.str();
  auto op = graph::CallOp::create(
      builder, loc, function.resultTypes, builder.getStringAttr(name),
      function.operands, builder.getDenseI64ArrayAttr(function.told));
  NamedAttribute entries[] = {
      {builder.getStringAttr(host::operatorAttributes),
       call.attributes.getDictionary(builder.getContext())},
      {builder.getStringAttr(host::operatorInputs),
       builder.getDenseI64ArrayAttr(function.inputs)}};
  op->setAttr(host::operatorAttr, builder.getDictionaryAttr(entries));
  return SmallVector<Value>(op.getResults());
}

FailureOr<SmallVector<Value>> KernelLibrary::create(OpBuilder &builder,
                                                    Location loc,
                                                    const Call &call,
                                                    std::string &error) {
  FunctionOpInterface entry = find(call.domain, call.op);
  return isa<tile::KernelOp>(entry.getOperation())
             ? createLaunch(builder, loc, entry, call, error)
             : createCall(builder, loc, entry, call, error);
}

} // namespace adze
