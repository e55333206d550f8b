// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Imports a model into a module: symbols, arguments, nodes in order, results.
#include "Importer.h"
#include "Limits.h"
#include "OpTable.h"
#include "Types.h"
#include "Wire.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

using namespace adze;
using namespace adze::importer;

/// The limit of nesting of function bodies and graph attributes.
static constexpr unsigned kMaxDepth = 100;
/// The limit of nodes that all functions expand to, as each function may call
/// another one twice.
static constexpr unsigned kMaxExpansions = 1000000;

Importer::Importer(llvm::StringRef path, mlir::MLIRContext *context,
                   const ImportOptions &options, BranchChoices *choices)
    : builder(context), symbols(context, options), path(path),
      fileName(llvm::sys::path::filename(path)),
      contents(options.contents.empty() ? path.str() : options.contents),
      context(context), options(options), choices(choices) {
  context->loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static int getVersion(const Node &node) {
  return node.sinceVersion ? node.sinceVersion : node.opsetVersion;
}

ImportIssue Importer::makeIssue(std::string message,
                                const NodePosition *position) const {
  ImportIssue issue;
  issue.message = std::move(message);
  issue.isNode = position;
  llvm::StringRef text = issue.message;
  text.consume_front(path + ": ");
  if (position) {
    const Node &node = *position->node, &outermost = *position->outermost;
    issue.node = getNodeName(outermost.name, outermost.opType, position->index);
    issue.index = position->index;
    issue.op = describeOperator(outermost.domain, outermost.opType,
                                getVersion(outermost));
    issue.failedOp =
        describeOperator(node.domain, node.opType, getVersion(node));
    text.consume_front(describe(*position->outermost, position->index) + ": ");
  }
  issue.text = text.str();
  return issue;
}

void Importer::issue(const llvm::Twine &message, bool unsupported,
                     const NodePosition *position) {
  ++numFaults;
  std::string whole = message.str();
  if (!told.insert(whole).second)
    return;
  ImportIssue &issue =
      issues.emplace_back(makeIssue(std::move(whole), position));
  issue.unsupported = unsupported;
  if (!position)
    return;
  issue.isMissing = unsupported && !isKnown(*position->node);
  // Copies of a node, one for each call of its function, have one proto.
  failedNodes.insert(isInBody ? modelNode : position->node->proto);
}

/// Returns the first error that ops have reported, without the name of the
/// graph op.
std::string Importer::takeDiagnostic() {
  std::string first;
  if (!diagnostics.empty())
    first = diagnostics.front();
  diagnostics.clear();
  llvm::StringRef text = first, rest = text;
  if (rest.consume_front("'graph.") && rest.contains("' op "))
    text = rest.split("' op ").second;
  return text.str();
}

std::string Importer::describe(const Node &node, unsigned index) const {
  return describeNode(node.name, index, node.domain, node.opType,
                      getVersion(node));
}

mlir::Location Importer::getLocation(const Node &node, unsigned index) const {
  return mlir::NameLoc::get(
      mlir::StringAttr::get(context,
                            getNodeName(node.name, node.opType, index)),
      mlir::FileLineColLoc::get(context, fileName, index, 0));
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

bool Importer::read() {
  std::string error;
  file = mapFile(contents, error);
  if (!file) {
    issue(path + ": expected a readable file, but got: " + error);
    return false;
  }
  WireError wireError;
  auto bytes = llvm::arrayRefFromStringRef(file->getBuffer());
  std::optional<std::string> skeleton = makeSkeleton(bytes, wireError);
  if (skeleton)
    model = reader.read(std::move(*skeleton), error);
  llvm::StringRef foreign = describeForeignFile(file->getBuffer());
  if (!model && !foreign.empty()) {
    issue(path + ": expected an ONNX model, but got " + foreign);
    return false;
  }
  if (!skeleton) {
    issue(path + ": byte " + llvm::Twine(wireError.offset) + ": " +
          wireError.message + " (not an ONNX file, or a damaged one)");
    return false;
  }
  if (!model) {
    issue(path + ": " + error);
    return false;
  }
  for (const ModelWarning &warning : model->warnings)
    warn(warning);
  tensors = std::make_unique<Tensors>(
      context, path, contents,
      llvm::ArrayRef(file->getBufferStart(), file->getBufferSize()));
  for (const std::string &problem : model->problems)
    issue(path + ": " + problem);
  int opset = model->opsets.lookup("");
  if (opset > model->latestOpset)
    issue(path + ": expected opset " + llvm::Twine(model->latestOpset) +
              " of ai.onnx at most, but got " + llvm::Twine(opset) +
              "; onnx.version_converter brings a model to an older opset",
          /*unsupported=*/true);
  return true;
}

void Importer::issueOf(const TensorData &tensor, llvm::StringRef problem) {
  bool unsupported = tensor.dataType >= 1 && tensor.dataType <= 28 &&
                     !getElementType(context, tensor.dataType);
  issue(path + ": initializer '" + tensor.name + "': " + problem, unsupported);
}

void Importer::checkInitializers() {
  llvm::StringMap<const TensorData *> byName;
  for (const TensorData &tensor : model->graph.initializers) {
    std::string problem = tensors->check(tensor);
    auto [known, isNew] = byName.try_emplace(tensor.name, &tensor);
    if (problem.empty() && !isNew && !tensors->areEqual(tensor, *known->second))
      problem = "expected a unique name, but got two different initializers";
    if (!problem.empty())
      issueOf(tensor, problem);
    else if (!isNew)
      warn(path + ": initializer '" + tensor.name +
           "': defined twice with the same elements; one is used");
  }
}

/// Warns about the size of a sparse tensor that was made dense.
void Importer::warnOf(const TensorData &tensor, const llvm::Twine &prefix,
                      const NodePosition *position) {
  if (!tensor.stored)
    return;
  uint64_t count = 1;
  for (int64_t dim : tensor.dims)
    count *= uint64_t(dim);
  warn(prefix + "a sparse tensor with " + llvm::Twine(*tensor.stored) + " of " +
           llvm::Twine(count) + " elements is made dense: " +
           llvm::Twine(tensor.bytes.size()) + " bytes",
       position);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

mlir::Value Importer::materialize(const TensorData &tensor) {
  std::string error;
  // Constants are created where all regions see them.
  mlir::OpBuilder::InsertionGuard guard(builder);
  if (builder.getInsertionBlock() != &function.front())
    builder.setInsertionPointToStart(&function.front());
  mlir::ElementsAttr elements = tensors->get(tensor, error);
  if (!elements) {
    issueOf(tensor, error); // reported once, also if checkInitializers did
    return {};
  }
  warnOf(tensor, path + ": initializer '" + tensor.name + "': ");
  // The name has no file, as it is not a node.
  auto loc = mlir::NameLoc::get(builder.getStringAttr(tensor.name));
  return graph::ConstantOp::create(builder, loc, elements);
}

bool Importer::find(llvm::StringRef name, Scope &scope, mlir::Value &value) {
  for (Scope *at = &scope; at; at = at->parent) {
    auto found = at->values.find(name);
    if (found != at->values.end()) {
      value = found->second;
      return true;
    }
    auto constant = at->constants.find(name);
    if (constant == at->constants.end())
      continue;
    value = materialize(*constant->second);
    if (!value)
      value = makePlaceholder(*constant->second);
    at->values[name] = value;
    return true;
  }
  return false;
}

void Importer::bind(const Node &node, Scope &scope,
                    llvm::ArrayRef<mlir::Value> values) {
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (!output.empty())
      scope.values[output] = i < values.size() ? values[i] : mlir::Value();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Returns "model.onnx: node 'a': in it, node 'b': ". Beyond a depth, nodes are
/// omitted, as recursive functions have many.
std::string Importer::extendPrefix(const NodePosition *outer,
                                   const std::string &node) const {
  constexpr unsigned mostNodes = 8;
  if (!outer)
    return path + ": " + node + ": ";
  if (outer->depth < mostNodes)
    return outer->prefix + "in it, " + node + ": ";
  return outer->prefix + (outer->depth == mostNodes ? "deeper in it, " : "");
}

void Importer::node(const Node &node, unsigned index, Scope &scope,
                    const NodePosition *outer) {
  NodePosition position{extendPrefix(outer, describe(node, index)),
                        outer ? outer->loc : getLocation(node, index),
                        outer ? outer->depth + 1 : 0,
                        outer ? outer->outermost : &node,
                        outer ? outer->index : index,
                        &node};
  llvm::SmallVector<mlir::Value> operands;
  if (!findOperands(node, scope, position, operands))
    return bindFailed(node, scope, position.loc, {}, std::nullopt);
  for (auto [input, operand] : llvm::zip_equal(node.inputs, operands))
    // The node cannot be imported, but it can be checked whether its operator
    // is known.
    if (!input.empty() && !operand && isKnown(node))
      return bindFailed(node, scope, position.loc, {}, std::nullopt);
  Binder binder(*this, node, position.loc, operands);
  Scope *outerScope = std::exchange(currentScope, &scope);
  const NodePosition *outerPosition = std::exchange(currentPosition, &position);
  const Node *outerNode = std::exchange(currentNode, &node);
  if (!isInBody)
    modelNode = node.proto;
  auto restore = llvm::scope_exit([&] {
    currentNode = outerNode;
    currentScope = outerScope;
    currentPosition = outerPosition;
  });
  size_t faultsBefore = numFaults;
  Taint taint = Taint::None;
  mlir::LogicalResult result = dispatchTainted(binder, position, taint);
  std::string diagnostic = takeDiagnostic();
  if (mlir::succeeded(result)) {
    addTaint(binder.results, taint);
    return bind(node, scope, binder.results);
  }
  if (isRankOpen)
    return;
  // A node that uses values of a failed one is not reported itself.
  bool isToldBefore = std::exchange(isPoisoned, false) && !issues.empty();
  if (numFaults == faultsBefore && !isToldBefore &&
      !isConsequence(binder, taint))
    issue(position.prefix +
              (binder.message.empty() ? diagnostic : binder.message),
          binder.isUnsupported, &position);
  // The inference of ONNX requires a valid model.
  bindFailed(node, scope, position.loc, binder.results,
             binder.isUnsupported ? std::optional(llvm::ArrayRef(operands))
                                  : std::nullopt);
}

/// Finds the values of the inputs of the node, null for those of failed nodes.
/// Returns false, with an issue, if the node is invalid.
bool Importer::findOperands(const Node &node, Scope &scope,
                            const NodePosition &position,
                            llvm::SmallVectorImpl<mlir::Value> &operands) {
  std::string problem = node.problem;
  for (const std::string &input : node.inputs) {
    mlir::Value &value = operands.emplace_back();
    if (problem.empty() && !input.empty() && !find(input, scope, value))
      problem =
          "expected input '" + input + "' to be defined before it is used";
  }
  if (!problem.empty())
    issue(position.prefix + problem, /*unsupported=*/false, &position);
  return problem.empty();
}

/// Imports the node; `taint` is that of its operands.
mlir::LogicalResult Importer::dispatchTainted(Binder &binder,
                                              const NodePosition &position,
                                              Taint &taint) {
  taint = getTaint(binder.operands);
  Taint outerOperands = std::exchange(operandTaint, taint);
  Taint outerInner = std::exchange(innerTaint, Taint::None);
  mlir::LogicalResult result = dispatch(binder, position);
  taint = std::max(taint, innerTaint);
  operandTaint = outerOperands;
  innerTaint = outerInner;
  return result;
}

/// Returns the function body that ONNX defines for the operator, for the
/// operand types.
std::unique_ptr<Function> Importer::getBody(const Binder &binder) {
  llvm::SmallVector<InputType> types;
  for (mlir::Value operand : binder.operands) {
    InputType &type = types.emplace_back();
    if (!operand)
      continue;
    type.elementType = getDataType(Binder::getElementType(operand));
    for (mlir::AffineExpr dim : graph::getDims(operand))
      type.dims.push_back(dim ? graph::getConstant(dim) : std::nullopt);
  }
  return reader.getFunctionBody(binder.node, types);
}

mlir::LogicalResult Importer::dispatch(Binder &binder,
                                       const NodePosition &position) {
  const Node &node = binder.node;
  if (hasCustomKernel(node))
    return launchCustomKernel(binder);
  auto local = model->functions.find(
      getFunctionKey(node.domain, node.opType, node.overload));
  if (local != model->functions.end())
    return call(binder, local->second, position);
  const OpRow *row = findOp(node.domain, node.opType, node.sinceVersion);
  // Function bodies of ONNX are less exact than its definitions.
  const Definition *definition =
      isInBody ? nullptr : reader.getDefinition(node);
  if (definition && mlir::failed(checkOperands(binder, *definition, row)))
    return mlir::failure();
  // This includes operators whose set the model does not import: they have a
  // handler, but no definition.
  if ((definition || (row && !isInBody)) && mlir::failed(checkLimits(binder)))
    return mlir::failure();
  mlir::LogicalResult result = importOperator(binder, position, row);
  if (!definition || mlir::failed(result) ||
      mlir::succeeded(checkResults(binder, *definition, binder.results)))
    return result;
  binder.results.clear(); // of wrong types
  return mlir::failure();
}

/// Imports the function body that ONNX defines for the operator, on these
/// operands. Returns nothing if there is none.
std::optional<mlir::LogicalResult>
Importer::expand(Binder &binder, const NodePosition &position,
                 llvm::SmallVector<mlir::Value> operands) {
  binder.operands = std::move(operands);
  auto body = getBody(binder);
  if (!body)
    return std::nullopt;
  bodies.push_back(std::move(body));
  bool outer = std::exchange(isInBody, true);
  auto restore = llvm::scope_exit([&] { isInBody = outer; });
  return call(binder, *bodies.back(), position);
}

/// Imports the operator by the handler of the table, else by its function body.
mlir::LogicalResult Importer::importOperator(Binder &binder,
                                             const NodePosition &position,
                                             const OpRow *row) {
  const Node &node = binder.node;
  if (row) {
    for (unsigned i = 0; i < row->required; ++i)
      if (!binder.operand(i))
        return binder.fail("expected operand " + llvm::Twine(i) +
                           " to be present");
    for (mlir::Value operand : binder.operands)
      if (operand && graph::isHandle(operand.getType()) &&
          !row->takesContainers)
        return binder.fail("expected tensors, but got " +
                           mlir::debugString(operand.getType()));
    return row->handler(binder);
  }
  if (node.opsetVersion == 0)
    return binder.fail("expected an opset_import for domain '" + node.domain +
                       "', but got none");
  if (std::optional<mlir::LogicalResult> expanded =
          expand(binder, position, binder.operands))
    return *expanded;
  if (node.sinceVersion) {
    std::optional<int> later =
        findLaterVersion(node.domain, node.opType, node.sinceVersion);
    if (!later)
      return binder.unsupported(
          "expected an operator of docs/OpSupport.md, but got one that is not "
          "supported; give it a kernel by --kernels FILE.mlir");
    return binder.unsupported(
        "expected version " + llvm::Twine(*later) +
        " of the operator or a later one, but got " +
        llvm::Twine(node.sinceVersion) +
        "; onnx.version_converter brings the model to a newer opset");
  }
  if (node.domain.empty())
    return binder.unsupported(
        "expected an operator of ai.onnx, but ONNX defines no '" + node.opType +
        "' up to opset " + llvm::Twine(node.opsetVersion) +
        "; onnx.version_converter brings a model to another opset");
  llvm::StringRef hint = getExportHint(node.domain, node.opType);
  return binder.unsupported("expected an operator of ai.onnx, but got the "
                            "custom operator '" +
                            node.opType +
                            "', which has no kernel; give it one by --kernels "
                            "FILE.mlir" +
                            (hint.empty() ? "" : ", or ") + hint);
}

/// Replaces references to attributes of a function by the values of the call.
static void substitute(std::vector<Node> &nodes, const Node &call,
                       llvm::ArrayRef<Attribute> defaults) {
  for (Node &node : nodes) {
    std::vector<Attribute> attributes;
    for (Attribute &attribute : node.attributes) {
      for (auto &graph : attribute.graphs) {
        graph = std::make_shared<Graph>(*graph);
        substitute(graph->nodes, call, defaults);
      }
      if (attribute.reference.empty()) {
        attributes.push_back(std::move(attribute));
        continue;
      }
      const Attribute *value = call.find(attribute.reference);
      if (!value) {
        auto found = llvm::find_if(defaults, [&](const Attribute &a) {
          return a.name == attribute.reference;
        });
        value = found == defaults.end() ? nullptr : &*found;
      }
      if (!value)
        continue;
      attributes.push_back(*value);
      attributes.back().name = attribute.name;
      attributes.back().reference.clear();
    }
    node.attributes = std::move(attributes);
  }
}

mlir::LogicalResult Importer::call(Binder &binder, const Function &function,
                                   const NodePosition &position) {
  const Node &node = binder.node;
  expansions += function.nodes.size();
  if (position.depth >= kMaxDepth || expansions > kMaxExpansions)
    return binder.fail(
        "expected functions without recursion, but got too many calls");
  if (node.inputs.size() > function.inputs.size() ||
      node.outputs.size() > function.outputs.size())
    return binder.fail("expected at most " +
                       llvm::Twine(function.inputs.size()) + " inputs and " +
                       llvm::Twine(function.outputs.size()) +
                       " outputs of the function");
  Scope scope;
  Scope absent; // omitted inputs of the call
  for (auto [i, name] : llvm::enumerate(function.inputs))
    if (mlir::Value operand = binder.operand(i))
      scope.values[name] = operand;
    else
      absent.values[name] = mlir::Value();
  std::vector<Node> body = function.nodes;
  substitute(body, node, function.defaults);
  for (Node &inner : body)
    for (std::string &input : inner.inputs)
      if (absent.values.contains(input))
        input.clear();
  for (auto [i, name] : llvm::enumerate(function.outputs))
    if (auto rank = binder.getDeclaredRank(i))
      scope.ranks[name] = *rank;
  addRanks({}, body, scope);
  scope.infos = function.values;
  size_t faultsBefore = numFaults;
  nodes(body, function.outputs, scope, &position);
  llvm::SmallVector<mlir::Value> results;
  for (const std::string &output : function.outputs) {
    mlir::Value value;
    if (!find(output, scope, value) && binder.wants(results.size()) &&
        numFaults == faultsBefore)
      return binder.fail("expected output '" + output +
                         "' of the function to be defined");
    if (binder.wants(results.size()) && !value)
      isPoisoned = true;
    results.push_back(value);
  }
  if (numFaults == faultsBefore)
    return binder.done(results);
  binder.results = results; // for the nodes after the failed one
  return mlir::failure();
}

const Dims *Importer::findBound(mlir::Value value) {
  auto found = bound.find(value);
  if (found == bound.end())
    return nullptr;
  // The op precedes all ops that are imported now if its region contains the
  // insertion point.
  mlir::Region *region = found->second.second->getParentRegion();
  return isInside(builder.getInsertionBlock()->getParent(), region)
             ? &found->second.first
             : nullptr;
}

static std::vector<std::string> getNames(llvm::ArrayRef<ValueInfo> infos) {
  std::vector<std::string> names;
  for (const ValueInfo &info : infos)
    names.push_back(info.name);
  return names;
}

mlir::LogicalResult
Importer::inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                      llvm::SmallVectorImpl<mlir::Value> &results) {
  if (currentPosition->depth >= kMaxDepth)
    return mlir::failure();
  expansions += graph.nodes.size();
  if (expansions > kMaxExpansions || inputs.size() > graph.inputs.size())
    return mlir::failure();
  Scope scope;
  scope.parent = currentScope;
  for (auto [name, value] : llvm::zip(graph.inputs, inputs))
    scope.values[name.name] = value;
  for (const TensorData &tensor : graph.initializers)
    scope.constants[tensor.name] = &tensor;
  scope.ranks = graph.ranks;
  addRanks(graph.outputs, graph.nodes, scope);
  scope.infos = graph.values;
  scope.outputInfos = graph.outputs;
  // Placeholders in a body are derived from its operands; values from outside
  // are known.
  if (builder.getInsertionBlock() != &function.front())
    for (mlir::Value input : inputs)
      if (input && input.getParentBlock() == builder.getInsertionBlock())
        addTaint(input, operandTaint);
  size_t faultsBefore = numFaults;
  const NodePosition position = *currentPosition;
  nodes(graph.nodes, getNames(graph.outputs), scope, &position);
  for (const ValueInfo &output : graph.outputs) {
    mlir::Value value;
    if (!find(output.name, scope, value) && numFaults == faultsBefore)
      issue(position.prefix + "expected output '" + output.name +
                "' of its graph to be defined",
            /*unsupported=*/false, &position);
    isPoisoned |= !value;
    results.push_back(value);
  }
  innerTaint = std::max(innerTaint, getTaint(results));
  return mlir::success(numFaults == faultsBefore &&
                       !llvm::is_contained(results, mlir::Value()));
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void Importer::run() {
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &d) {
    if (d.getSeverity() == mlir::DiagnosticSeverity::Error)
      diagnostics.push_back(d.str());
    return mlir::success();
  });
  if (!read())
    return;
  checkInitializers();
  if (!addFunction())
    return;
  mainScope.infos = model->graph.values;
  mainScope.outputInfos = model->graph.outputs;
  mainScope.ranks = model->graph.ranks;
  addRanks(model->graph.outputs, model->graph.nodes, mainScope);
  nodes(model->graph.nodes, getNames(model->graph.outputs), mainScope, nullptr);
  addReturn(model->graph);
  if (issues.empty() && mlir::failed(mlir::verify(*module)))
    issue(path +
          ": expected a module that verifies, but got: " + takeDiagnostic());
}
