// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Creates the ops of one node in the graph dialect.
#ifndef ADZE_LIB_IMPORT_ONNX_BINDER_H
#define ADZE_LIB_IMPORT_ONNX_BINDER_H

#include "NodeView.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"

namespace adze::importer {

using graph::Dims;

bool hasSaneSize(mlir::Type type);

/// Returns the type in which small floats and sub-byte types are computed.
mlir::Type getWideType(mlir::Type elementType);

/// After an error, `create` returns null values, which all members accept, and
/// `done` fails. A handler accesses the type of a value only if it is known to
/// be non-null.
class Binder : public NodeView {
public:
  Binder(Importer &importer, const Node &node, mlir::Location loc,
         llvm::SmallVector<mlir::Value> operands);

  mlir::OpBuilder &builder;
  const mlir::Location loc;

  /// Returns the rank that the model declares for an output.
  std::optional<int64_t> getDeclaredRank(unsigned output = 0) const;

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute attr(llvm::StringRef name, bool value);
  mlir::NamedAttribute attr(llvm::StringRef name, double value);
  mlir::NamedAttribute attr(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> value);
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  /// Creates an op with inferred result type.
  template <typename OpT>
  mlir::Value create(llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createInferred(OpT::getOperationName(), operands, attributes);
  }
  /// Creates an op with these result types, and returns its first result.
  template <typename OpT>
  mlir::Value createAs(mlir::TypeRange types,
                       llvm::ArrayRef<mlir::Value> operands,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createTyped(OpT::getOperationName(), types, operands, attributes);
  }

  mlir::Value constant(mlir::ElementsAttr elements);
  mlir::Value scalar(mlir::Type elementType, double value); // rank 0
  mlir::Value ints(llvm::ArrayRef<int64_t> values);

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> dims);
  /// Returns the value with these dims (null: unchanged).
  mlir::Value refine(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value withLength(mlir::Value vector, int64_t length);
  /// Returns a shape whose length is the declared rank of the output.
  mlir::Value withDeclaredRank(mlir::Value shape);
  mlir::Value broadcastTo(mlir::Value value,
                          llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Casts with the attributes `saturate` and `round_mode` of the node.
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  /// Returns elements [start, start + size) of one dim.
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t start,
                    mlir::AffineExpr size);
  mlir::Value slice(mlir::Value value, int64_t axis, mlir::AffineExpr start,
                    mlir::AffineExpr size);
  /// Splits a value into parts of these sizes.
  llvm::SmallVector<mlir::Value> split(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<int64_t> sizes);
  /// Concatenates at least one part; the size along `axis` is the sum.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> pieces, int64_t axis);
  /// Returns true if a tensor of this rank has the axis, else emits an error.
  bool hasAxis(int64_t axis, int64_t rank);
  /// Reshapes `value` (one element for each index of a dim of `like`, or a
  /// scalar) with trailing dims of size 1, so that it broadcasts along `axis`.
  mlir::Value alongAxis(mlir::Value value, int64_t axis, int64_t rank);

  mlir::AffineExpr expr(int64_t value) {
    return builder.getAffineConstantExpr(value);
  }
  /// Returns the elements of an integer vector as sizes: expressions of the
  /// symbolic dims if possible, else symbols that are bound at run time.
  Dims getSizes(mlir::Value value);
  /// The greatest known length of a vector of sizes or axes.
  static constexpr unsigned kMostDims = 64;
  /// Emits an error about the length of a vector; -1: dynamic.
  void failLength(int64_t length);
  /// Binds symbols to the elements for which `known` is null.
  Dims bindSizes(mlir::Value value, Dims known);
  /// Returns the broadcast of shapes (vectors); `known` is null for dynamic
  /// dims.
  Dims bindBroadcast(llvm::ArrayRef<mlir::Value> shapes, Dims known);
  /// Ends the run with an error unless a condition (one element) holds.
  void check(mlir::Value condition, llvm::StringRef message);
  /// Checks that integers are equal; before the run, if they are expressions of
  /// sizes.
  void checkEqual(mlir::Value lhs, mlir::Value rhs, llvm::StringRef message);
  mlir::AffineExpr makeFreshSymbol();
  /// Returns the sum of sizes; a long sum gets a symbol at run time.
  mlir::AffineExpr addSizes(llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// Returns true if shapes of inputs determine the size before the run.
  bool isKnownBeforeRun(mlir::AffineExpr size);
  /// Assumes that the expression is not negative, and checks it at run time.
  bool assumeNonNegative(mlir::AffineExpr expr);
  /// Assumes a condition of Broadcast.h, and checks it at run time.
  void assume(llvm::StringRef condition,
              llvm::ArrayRef<mlir::AffineExpr> sizes);

  /// Emits a warning about input that is accepted though ONNX does not allow
  /// it, or about a sparse tensor that was made dense.
  void warn(const llvm::Twine &message);
  void warnOf(const TensorData &tensor);

  /// Returns the elements of a tensor attribute, or null after an error.
  mlir::ElementsAttr getElements(const TensorData &tensor);
  /// Imports the function body of the operator of the node, on these operands.
  mlir::LogicalResult expand(llvm::ArrayRef<mlir::Value> operands);
  /// Inlines a graph attribute, and returns its outputs.
  mlir::LogicalResult inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  //===--------------------------------------------------------------------===//
  // Strings, and the run time's functions (Calls.cpp)
  //===--------------------------------------------------------------------===//

  mlir::Type getStringType();
  /// Create string constants: a vector, or a scalar.
  mlir::Value strings(llvm::ArrayRef<std::string> texts);
  mlir::Value string(llvm::StringRef text);
  /// A result of a call; null dims are bound by the call.
  struct CallResult {
    mlir::Type elementType;
    Dims dims = {};
  };
  /// Creates graph.call, and returns its results, which are null after an
  /// error. `told` are symbols that occur in several dims, which the call also
  /// binds.
  llvm::SmallVector<mlir::Value>
  call(llvm::StringRef function, llvm::ArrayRef<mlir::Value> inputs,
       llvm::ArrayRef<CallResult> results,
       llvm::ArrayRef<mlir::AffineExpr> told = {});
  /// Creates a call with one result.
  mlir::Value callForOne(llvm::StringRef function,
                         llvm::ArrayRef<mlir::Value> inputs,
                         const CallResult &result) {
    return call(function, inputs, result).front();
  }
  /// Returns the element type of a declared container; null on an error.
  mlir::TensorType getDeclaredElement(const TypeInfo &type);

  //===--------------------------------------------------------------------===//
  // Branches and loops (Regions.cpp)
  //===--------------------------------------------------------------------===//

  using Values = llvm::SmallVector<mlir::Value>;
  /// Builds the ops of a region and returns the values that it yields.
  using BuildBranch = llvm::function_ref<mlir::LogicalResult(Values &)>;
  /// Creates a branch, and returns its results, which are empty after an error.
  Values createIf(mlir::Value condition, BuildBranch thenBranch,
                  BuildBranch elseBranch);
  /// Returns the results for the i-th of `keys` that equals `key` (a scalar),
  /// or for the last one.
  Values
  choose(mlir::Value key, llvm::ArrayRef<int64_t> keys,
         llvm::function_ref<mlir::LogicalResult(size_t, Values &)> build);

  /// The body of a loop. It receives the index of the iteration (a scalar) and
  /// the carried values, and returns the next condition (null: true), the next
  /// carried values and the slices of collected results.
  struct LoopBody {
    mlir::Value condition;
    Values carried, slices;
  };
  using BuildBody = llvm::function_ref<mlir::LogicalResult(
      mlir::Value, mlir::ValueRange, LoopBody &)>;
  /// Creates a loop, and returns the last carried values, then the collected
  /// results, or nothing after an error. A null trip count is unlimited; a null
  /// condition is true.
  Values createLoop(mlir::Value tripCount, mlir::Value condition,
                    mlir::ValueRange inits, BuildBody build);

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// Binds the outputs. Fails after an error, or if an output is missing.
  mlir::LogicalResult done(llvm::ArrayRef<mlir::Value> results);
  /// Returns the values that outputs are bound to so far.
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

private:
  friend class Importer;

  /// The state of one attempt to build the body of a loop.
  struct LoopAttempt;
  mlir::LogicalResult buildBody(LoopAttempt &attempt, BuildBody build);
  bool generalize(LoopAttempt &attempt, llvm::ArrayRef<mlir::Type> types,
                  llvm::SmallVector<mlir::Type> &next);
  llvm::SmallVector<mlir::Type> widenSlices(LoopAttempt &attempt);
  Values finishLoop(LoopAttempt &attempt, mlir::Value tripCount,
                    mlir::Value condition, mlir::ValueRange inits);
  /// Returns the common type of values of both types, with a new symbol for
  /// each dim in which they differ, or that is known only in their region, or
  /// null.
  mlir::Type join(mlir::Type lhs, mlir::Type rhs, unsigned firstInnerSymbol,
                  llvm::SmallVectorImpl<int64_t> &symbols);
  /// Inlines the first branch with `takesThen`, else the other one; a check at
  /// run time ensures that the condition selects it.
  Values takeBranch(mlir::Value condition, bool takesThen, BuildBranch build);
  /// Returns which of two branches is taken if only one of them can have the
  /// rank of the result.
  std::optional<bool> chooseByRank(llvm::ArrayRef<mlir::Value> thenResults,
                                   llvm::ArrayRef<mlir::Value> elseResults);
  void completeBroadcast(mlir::Operation *op,
                         llvm::SmallVectorImpl<mlir::Type> &types);

  bool canCreate(llvm::ArrayRef<mlir::Value> operands);
  mlir::Value createTyped(llvm::StringRef name, mlir::TypeRange types,
                          llvm::ArrayRef<mlir::Value> operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Type widen(llvm::StringRef op,
                   llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::Value verify(mlir::Operation *op);
  mlir::Value createInferred(llvm::StringRef name,
                             llvm::ArrayRef<mlir::Value> operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes);

  Importer &importer;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_BINDER_H
