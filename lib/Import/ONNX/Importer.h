// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The importer of the graph of a model.
#ifndef ADZE_LIB_IMPORT_ONNX_IMPORTER_H
#define ADZE_LIB_IMPORT_ONNX_IMPORTER_H

#include "Binder.h"
#include "BranchChoices.h"
#include "Reader.h"
#include "Symbols.h"
#include "Tensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace adze::importer {

/// The reliability of the type of a value that is a placeholder, or computed
/// from one.
enum class Taint {
  None,  // not a placeholder
  Typed, // the type is reliable, but not the elements
  Vague  // sizes, or elements that determine sizes, are unreliable
};

/// The names that the nodes of a graph can use. A null value is that of a
/// failed node without a known type.
struct Scope {
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<const TensorData *> constants; // not used yet
  llvm::StringMap<int64_t> ranks;                // if declared
  llvm::ArrayRef<ValueInfo> infos, outputInfos;  // declarations
  llvm::StringMap<const ValueInfo *> declared;   // of these; built on demand
  Scope *parent = nullptr;
};

/// Adds the ranks that graph outputs declare, and those of the values they are
/// computed from, as far as operators and constants of the scope imply them.
void addRanks(llvm::ArrayRef<ValueInfo> outputs, llvm::ArrayRef<Node> nodes,
              Scope &scope);

/// Returns how to export without operators of this domain, or an empty string.
llvm::StringRef getExportHint(llvm::StringRef domain, llvm::StringRef op);

struct OpRow;

class Importer {
public:
  Importer(llvm::StringRef path, mlir::MLIRContext *context,
           const ImportOptions &options, BranchChoices *choices = nullptr);

  /// Imports all that is possible; other nodes are reported in `issues`.
  void run();
  /// Returns true if only choices between branches of different ranks, of which
  /// none were given, would reveal further issues.
  bool wantsChoices() const { return isChoiceOpen; }
  /// Returns `issues` and `warnings`, with the number of nodes of the model.
  ImportReport takeReport();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ImportIssue> issues;
  std::vector<ImportIssue> warnings;

  /// True if the nodes after branches of different ranks are put into both, up
  /// to where they agree (TailDuplication.cpp).
  bool duplicatesTails = false;

  mlir::OpBuilder builder;
  Symbols symbols;

private:
  friend class Binder;

  /// The position of a node, for messages and locations.
  struct NodePosition {
    std::string prefix; // "model.onnx: "
    mlir::Location loc;
    unsigned depth;        // of function bodies and graphs
    const Node *outermost; // of the main graph
    unsigned index;        // of that node
    const Node *node;      // the imported node
  };

  bool read();
  void issueOf(const TensorData &tensor, llvm::StringRef problem);
  void checkInitializers();
  void warnOf(const TensorData &tensor, const llvm::Twine &prefix,
              const NodePosition *position = nullptr);
  mlir::FailureOr<mlir::Type> getInputType(const ValueInfo &input);
  /// Returns the type of a value that is not a tensor, or null if it is
  /// unsupported.
  mlir::TensorType getContainerType(const TypeInfo &type);
  mlir::Value asDeclared(const ValueInfo &output, mlir::Value value);
  void checkType(const ValueInfo &output, mlir::Value value);
  void checkRank(const ValueInfo &output, mlir::Value value);
  /// An initializer that is an input with a default.
  struct Overridable {
    llvm::StringRef name;
    mlir::ElementsAttr value;
  };
  void addOverridable(llvm::SmallVectorImpl<mlir::Type> &types,
                      llvm::SmallVectorImpl<Overridable> &weights);
  void addOverridable(const TensorData &tensor,
                      llvm::SmallVectorImpl<mlir::Type> &types,
                      llvm::SmallVectorImpl<Overridable> &weights);
  bool addFunction();
  void addConstants(const Graph &graph, Scope &scope);
  void addReturn(const Graph &graph);
  /// `outputs` are the names that are used after the nodes.
  void nodes(llvm::ArrayRef<Node> nodes, llvm::ArrayRef<std::string> outputs,
             Scope &scope, const NodePosition *outer);
  struct SharedTail;
  bool importWithTail(SharedTail &tail, llvm::ArrayRef<Node> rest,
                      llvm::ArrayRef<std::string> outputs, Scope &scope,
                      const NodePosition *outer);
  void node(const Node &node, unsigned index, Scope &scope,
            const NodePosition *outer);
  void bind(const Node &node, Scope &scope, llvm::ArrayRef<mlir::Value> values);
  bool findOperands(const Node &node, Scope &scope,
                    const NodePosition &position,
                    llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::LogicalResult
  dispatchTainted(Binder &binder, const NodePosition &position, Taint &taint);
  mlir::LogicalResult call(Binder &binder, const Function &function,
                           const NodePosition &position);
  bool hasCustomKernel(const Node &node) const;
  mlir::LogicalResult launchCustomKernel(Binder &binder);
  std::optional<mlir::LogicalResult>
  expand(Binder &binder, const NodePosition &position,
         llvm::SmallVector<mlir::Value> operands);
  mlir::LogicalResult dispatch(Binder &binder, const NodePosition &position);
  mlir::LogicalResult importOperator(Binder &binder,
                                     const NodePosition &position,
                                     const OpRow *row);
  std::unique_ptr<Function> getBody(const Binder &binder);
  mlir::LogicalResult inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  /// Assumes that both are equal, and checks it before the run. Returns false
  /// if the current node may not run, or depends on values computed at run
  /// time.
  bool assumeEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

  /// Returns the sizes that a value was bound to, if they hold at the insertion
  /// point, or null.
  const Dims *findBound(mlir::Value value);
  void forget(mlir::Region &region);
  /// Adds a block to a region whose op is created later, at the insertion
  /// point.
  mlir::Block *createBlock(mlir::Region *region);
  bool isInside(mlir::Region *inner, mlir::Region *outer) const;
  /// Returns whether to take the first of two branches of different ranks, or
  /// nothing if this attempt does not choose.
  std::optional<bool> chooseBranch();
  void keepBound(mlir::Value value, const Dims &dims, graph::BindOp op) {
    bound[value] = {dims, op};
  }

  /// Finds the value of a name. Returns false if there is none; the value of a
  /// failed node is null.
  bool find(llvm::StringRef name, Scope &scope, mlir::Value &value);
  mlir::Value materialize(const TensorData &tensor);

  // Placeholders.cpp
  Taint getTaint(llvm::ArrayRef<mlir::Value> values) const;
  void addTaint(llvm::ArrayRef<mlir::Value> values, Taint taint);
  bool isKnown(const Node &node);
  bool isConsequence(const Binder &binder, Taint taint);
  static const ValueInfo *findDeclared(llvm::StringRef name, Scope &scope);
  std::vector<ValueInfo>
  inferOutputs(const Node &node, llvm::ArrayRef<mlir::Value> operands,
               llvm::SmallVectorImpl<mlir::AffineExpr> &exprs);
  mlir::Value addPlaceholder(mlir::Type type, Taint taint, mlir::Location loc);
  mlir::Value makePlaceholder(const ValueInfo &info,
                              llvm::ArrayRef<mlir::AffineExpr> exprs,
                              mlir::Location loc);
  mlir::Value makePlaceholder(const TensorData &tensor);
  void bindFailed(const Node &node, Scope &scope, mlir::Location loc,
                  llvm::ArrayRef<mlir::Value> results,
                  std::optional<llvm::ArrayRef<mlir::Value>> operands);

  /// Adds an issue; `position` is the node, or null outside of nodes.
  void issue(const llvm::Twine &message, bool unsupported = false,
             const NodePosition *position = nullptr);
  std::string describe(const Node &node, unsigned index) const;
  std::string extendPrefix(const NodePosition *outer,
                           const std::string &node) const;
  /// Adds a warning about input that is accepted though ONNX does not allow it.
  void warn(const llvm::Twine &message, const NodePosition *position = nullptr);
  void warn(const ModelWarning &warning);
  /// Returns an issue with the message; `position` is as above.
  ImportIssue makeIssue(std::string message,
                        const NodePosition *position) const;
  mlir::Location getLocation(const Node &node, unsigned index) const;
  std::string takeDiagnostic();

  std::string path, fileName;
  std::string contents; // the file with the bytes of the model at `path`
  mlir::MLIRContext *context;
  const ImportOptions &options;
  BranchChoices *choices;
  bool isChoiceOpen = false;
  /// True if the branches of the failed node differ in rank, and the nodes
  /// after it may be put into both.
  bool isRankOpen = false;
  std::unique_ptr<llvm::MemoryBuffer> file;
  Reader reader;
  std::unique_ptr<Model> model;
  std::unique_ptr<Tensors> tensors;
  Scope mainScope;
  mlir::func::FuncOp function;
  /// The scope of the imported node.
  Scope *currentScope = nullptr;
  const NodePosition *currentPosition = nullptr;
  const Node *currentNode = nullptr;
  /// The innermost node of the model itself, not of a function body of ONNX,
  /// and the nodes with errors (Node::proto).
  const void *modelNode = nullptr;
  llvm::DenseSet<const void *> failedNodes;
  /// Diagnostics of ops, which become issues.
  std::vector<std::string> diagnostics;
  /// Function bodies created for this model, which nodes refer to.
  std::vector<std::unique_ptr<Function>> bodies;
  std::vector<std::unique_ptr<Node>> extendedNodes;
  /// Sizes that the model declares to be equal, without an op that requires it.
  std::vector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> equalities;
  /// Symbols from this one on are bound while the program runs.
  unsigned numInputSymbols = 0;
  /// Regions without an op yet, and the regions that will contain them.
  llvm::DenseMap<mlir::Region *, mlir::Region *> unattached;
  /// Vectors whose elements are bound to symbols, and the binding op.
  llvm::DenseMap<mlir::Value, std::pair<Dims, graph::BindOp>> bound;
  /// True if a graph attribute of the node uses values of a failed node.
  bool isPoisoned = false;
  /// Placeholders, and values computed from them.
  llvm::DenseMap<mlir::Value, Taint> taints;
  /// The taint of the operands, and of the results of graph attributes.
  Taint operandTaint = Taint::None, innerTaint = Taint::None;
  /// The number of errors, including duplicates that are not reported again.
  size_t numFaults = 0;
  llvm::StringSet<> told;
  /// True if the node is in a function body of ONNX.
  bool isInBody = false;
  /// The number of expansions, which is limited to guarantee termination.
  unsigned expansions = 0;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_IMPORTER_H
