// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The walk over a model's graph.
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

/// What may be wrong with what is said of a value because it is a placeholder,
/// or made of one.
enum class Taint {
  None,  // it is none
  Typed, // no more than its elements: its type is known as a whole
  Vague  // sizes, or elements that say some
};

/// The names that a graph's nodes can use. A null value: its node has failed,
/// and not even its type is known.
struct Scope {
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<const TensorData *> constants; // not yet asked for
  llvm::StringMap<int64_t> ranks;                // as far as declared
  llvm::ArrayRef<ValueInfo> infos, outputInfos;  // what is declared
  llvm::StringMap<const ValueInfo *> declared;   // of these; built when needed
  Scope *parent = nullptr;
};

/// Adds the ranks that graph outputs declare, and those of what operators that
/// keep them make these from.
void addRanks(llvm::ArrayRef<ValueInfo> outputs, llvm::ArrayRef<Node> nodes,
              llvm::StringMap<int64_t> &ranks);

/// How exporters write no operators of this domain; empty if that is not known.
llvm::StringRef getExportHint(llvm::StringRef domain, llvm::StringRef op);

struct OpRow;

class Importer {
public:
  Importer(llvm::StringRef path, mlir::MLIRContext *context,
           const ImportOptions &options, BranchChoices *choices = nullptr);

  /// Imports all that can be; the rest stands in `issues`.
  void run();
  /// Whether only choices between branches of different ranks, of which none
  /// were given, can tell more.
  bool wantsChoices() const { return isChoiceOpen; }
  /// What stands in `issues` and `warnings`, with the model's number of nodes.
  ImportReport takeReport();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ImportIssue> issues;
  std::vector<ImportIssue> warnings;

  /// Whether what comes after branches of different ranks is put into both, up
  /// to where they agree (Roads.cpp).
  bool takesBothRoads = false;

  mlir::OpBuilder builder;
  Symbols symbols;

private:
  friend class Binder;

  /// Where a node is, for messages and locations.
  struct Place {
    std::string prefix; // "model.onnx: "
    mlir::Location loc;
    unsigned depth;        // of function bodies and graphs
    const Node *outermost; // of the model's graph
    unsigned index;        // of that one
    const Node *node;      // that is imported
  };

  bool read();
  void issueOf(const TensorData &tensor, llvm::StringRef problem);
  void checkInitializers();
  void warnOf(const TensorData &tensor, const llvm::Twine &prefix,
              const Place *place = nullptr);
  mlir::FailureOr<mlir::Type> getInputType(const ValueInfo &input);
  /// The type of what is no tensor; null if Adze has none.
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
  /// `outputs`: the names that are needed after the nodes.
  void nodes(llvm::ArrayRef<Node> nodes, llvm::ArrayRef<std::string> outputs,
             Scope &scope, const Place *outer);
  struct Roads;
  bool goOn(Roads &roads, llvm::ArrayRef<Node> rest,
            llvm::ArrayRef<std::string> outputs, Scope &scope,
            const Place *outer);
  void node(const Node &node, unsigned index, Scope &scope, const Place *outer);
  void bind(const Node &node, Scope &scope, llvm::ArrayRef<mlir::Value> values);
  bool findOperands(const Node &node, Scope &scope, const Place &place,
                    llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::LogicalResult dispatchTainted(Binder &binder, const Place &place,
                                      Taint &taint);
  mlir::LogicalResult call(Binder &binder, const Function &function,
                           const Place &place);
  bool hasCustomKernel(const Node &node) const;
  mlir::LogicalResult launchCustomKernel(Binder &binder);
  std::optional<mlir::LogicalResult>
  expand(Binder &binder, const Place &place,
         llvm::SmallVector<mlir::Value> operands);
  mlir::LogicalResult dispatch(Binder &binder, const Place &place);
  mlir::LogicalResult importOperator(Binder &binder, const Place &place,
                                     const OpRow *row);
  std::unique_ptr<Function> getBody(const Binder &binder);
  mlir::LogicalResult inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  /// Takes both for equal, and has the run check it before it begins; false
  /// where what is imported now may not be run, or needs what the run finds.
  bool assumeEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

  /// The sizes that a value was bound to, where that holds at the builder's
  /// place; null if nowhere.
  const Dims *findBound(mlir::Value value);
  void forget(mlir::Region &region);
  /// Adds a block to a region whose op is created later, at the builder's
  /// place.
  mlir::Block *createBlock(mlir::Region *region);
  bool isInside(mlir::Region *inner, mlir::Region *outer) const;
  /// Whether to take the first of two branches of different ranks; none if
  /// that is not for this attempt to say.
  std::optional<bool> chooseBranch();
  void keepBound(mlir::Value value, const Dims &dims, graph::BindOp op) {
    bound[value] = {dims, op};
  }

  /// The value of a name: false if there is none, null if its node has failed.
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

  /// `place`: the node that it is about; null outside of any node.
  void issue(const llvm::Twine &message, bool unsupported = false,
             const Place *place = nullptr);
  std::string describe(const Node &node, unsigned index) const;
  std::string extendPrefix(const Place *outer, const std::string &node) const;
  /// Adds a warning about what is taken though ONNX does not allow it.
  void warn(const llvm::Twine &message, const Place *place = nullptr);
  void warn(const ModelWarning &warning);
  /// Returns an error with the message; `place` as above.
  ImportIssue makeIssue(std::string message, const Place *place) const;
  mlir::Location getLocation(const Node &node, unsigned index) const;
  std::string takeDiagnostic();

  std::string path, fileName;
  std::string contents; // the file with the bytes of the model at `path`
  mlir::MLIRContext *context;
  const ImportOptions &options;
  BranchChoices *choices;
  bool isChoiceOpen = false;
  /// Of the node that has failed: its branches differ in rank, and what comes
  /// after them may be put into both.
  bool isRankOpen = false;
  std::unique_ptr<llvm::MemoryBuffer> file;
  Reader reader;
  std::unique_ptr<Model> model;
  std::unique_ptr<Tensors> tensors;
  Scope mainScope;
  mlir::func::FuncOp function;
  /// What the node that is imported stands in.
  Scope *currentScope = nullptr;
  const Place *currentPlace = nullptr;
  const Node *currentNode = nullptr;
  /// The innermost node of the model itself, not of a body that ONNX has for an
  /// operator; and those that have a fault (Node::proto).
  const void *modelNode = nullptr;
  llvm::DenseSet<const void *> failedNodes;
  /// Diagnostics of ops, to be told as issues.
  std::vector<std::string> diagnostics;
  /// Bodies made for this model; nodes refer to them.
  std::vector<std::unique_ptr<Function>> bodies;
  std::vector<std::unique_ptr<Node>> longNodes;
  /// Sizes that the model says are equal: no op takes them for that.
  std::vector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> equalities;
  /// Symbols from this one on get their values while the program runs.
  unsigned numInputSymbols = 0;
  /// Regions that have no op yet, and the ones that they will be in.
  llvm::DenseMap<mlir::Region *, mlir::Region *> unattached;
  /// Vectors whose elements symbols stand for, from where on they do.
  llvm::DenseMap<mlir::Value, std::pair<Dims, graph::BindOp>> bound;
  /// Whether a graph inside of the node uses values of a failed one.
  bool isPoisoned = false;
  /// Placeholders, and what is made of them.
  llvm::DenseMap<mlir::Value, Taint> taints;
  /// That of the node's operands, and of the results of graphs inside of it.
  Taint operandTaint = Taint::None, innerTaint = Taint::None;
  /// All faults; those that are found again are not told again.
  size_t numFaults = 0;
  llvm::StringSet<> told;
  /// Whether the node comes from a body that ONNX has for an operator.
  bool isInBody = false;
  /// How often a node has been expanded; stops what would never end.
  unsigned expansions = 0;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_IMPORTER_H
