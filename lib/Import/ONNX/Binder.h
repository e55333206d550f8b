// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One node on its way into the graph dialect: the ops that it becomes.
#ifndef ADZE_LIB_IMPORT_ONNX_BINDER_H
#define ADZE_LIB_IMPORT_ONNX_BINDER_H

#include "NodeView.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"

namespace adze::importer {

using graph::Dims;

bool hasSaneSize(mlir::Type type);

/// What elements below 8 bits, or other small floats, are computed in.
mlir::Type getWideType(mlir::Type elementType);

/// After an error `create` returns null values, which all members accept, and
/// `done` fails. A handler looks at a value's type only where it knows the
/// value is there.
class Binder : public NodeView {
public:
  Binder(Importer &importer, const Node &node, mlir::Location loc,
         llvm::SmallVector<mlir::Value> operands);

  mlir::OpBuilder &builder;
  const mlir::Location loc;

  /// The rank that the model declares for an output.
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

  /// Adds an op whose result type is inferred.
  template <typename OpT>
  mlir::Value create(llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createInferred(OpT::getOperationName(), operands, attributes);
  }
  /// Adds an op with these result types; its first result.
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
  /// The same value with these dims (null: its own), as the node needs.
  mlir::Value refine(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value withLength(mlir::Value vector, int64_t length);
  /// A shape that has as many elements as the model declares dims of the
  /// output, if it does not say itself how many it has.
  mlir::Value withDeclaredRank(mlir::Value shape);
  mlir::Value broadcastTo(mlir::Value value,
                          llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// With the rules that the node's attributes `saturate` and `round_mode` say.
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  /// [start, start + size) of one dim.
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t start,
                    mlir::AffineExpr size);
  mlir::Value slice(mlir::Value value, int64_t axis, mlir::AffineExpr start,
                    mlir::AffineExpr size);
  /// Pieces of such sizes, one after the other.
  llvm::SmallVector<mlir::Value> split(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<int64_t> sizes);
  /// At least one piece; its size along `axis` is the sum of theirs.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> pieces, int64_t axis);
  /// Whether a tensor of so many dims has this one; else an error.
  bool hasAxis(int64_t axis, int64_t rank);
  /// `value` (per index of a dim of `like`, or a scalar) with dims of size 1
  /// behind, so that it broadcasts along `axis`.
  mlir::Value alongAxis(mlir::Value value, int64_t axis, int64_t rank);

  mlir::AffineExpr expr(int64_t value) {
    return builder.getAffineConstantExpr(value);
  }
  /// What an integer vector holds, taken as sizes: its elements where the
  /// symbolic dims determine them, else symbols that the run binds.
  Dims getSizes(mlir::Value value);
  /// A vector of sizes or axes has a known length of at most this.
  static constexpr unsigned kMostDims = 64;
  /// Refuses a vector of such a length; -1: of dynamic length.
  void failLength(int64_t length);
  /// The same where `known` has null entries only.
  Dims bindSizes(mlir::Value value, Dims known);
  /// The dims that shapes (vectors) broadcast to, if they do; `known` has null
  /// entries where they are dynamic.
  Dims bindBroadcast(llvm::ArrayRef<mlir::Value> shapes, Dims known);
  /// Ends the run with an error unless a condition (one element) holds.
  void check(mlir::Value condition, llvm::StringRef message);
  /// The same of integers that are equal; before the run, where sizes say them.
  void checkEqual(mlir::Value lhs, mlir::Value rhs, llvm::StringRef message);
  mlir::AffineExpr makeFreshSymbol();
  /// The sum of sizes. A long one gets symbols of its own, which the run
  /// assigns.
  mlir::AffineExpr addSizes(llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// Returns true if the node always runs and the inputs' shapes tell the size.
  bool isKnownBeforeRun(mlir::AffineExpr size);
  /// Takes it for granted, and has the run time check it.
  bool assumeNonNegative(mlir::AffineExpr expr);
  /// The same of one of the conditions of Broadcast.h.
  void assume(llvm::StringRef condition,
              llvm::ArrayRef<mlir::AffineExpr> sizes);

  /// Tells of what is taken though ONNX does not allow it, or of a sparse
  /// tensor that was made dense.
  void warn(const llvm::Twine &message);
  void warnOf(const TensorData &tensor);

  /// The elements of a tensor attribute; null after an error.
  mlir::ElementsAttr getElements(const TensorData &tensor);
  /// Imports the body that ONNX has for the node's operator, on these operands.
  mlir::LogicalResult expand(llvm::ArrayRef<mlir::Value> operands);
  /// Imports a graph attribute in place: its outputs.
  mlir::LogicalResult inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                                  llvm::SmallVectorImpl<mlir::Value> &results);

  //===--------------------------------------------------------------------===//
  // Strings, and the run time's functions (Calls.cpp)
  //===--------------------------------------------------------------------===//

  mlir::Type getStringType();
  /// Constants: a vector, or a scalar.
  mlir::Value strings(llvm::ArrayRef<std::string> texts);
  mlir::Value string(llvm::StringRef text);
  /// A value of a call; dims that are null the call tells.
  struct CallResult {
    mlir::Type elementType;
    Dims dims = {};
  };
  /// graph.call: its results; nulls after an error. `told`: symbols that occur
  /// in several dims, which the call tells as well.
  llvm::SmallVector<mlir::Value>
  call(llvm::StringRef function, llvm::ArrayRef<mlir::Value> inputs,
       llvm::ArrayRef<CallResult> results,
       llvm::ArrayRef<mlir::AffineExpr> told = {});
  /// The only result.
  mlir::Value callForOne(llvm::StringRef function,
                         llvm::ArrayRef<mlir::Value> inputs,
                         const CallResult &result) {
    return call(function, inputs, result).front();
  }
  /// What a container says of values of that declared type; null, with an
  /// error, if Adze has none.
  mlir::TensorType getDeclaredElement(const TypeInfo &type);

  //===--------------------------------------------------------------------===//
  // Branches and loops (Regions.cpp)
  //===--------------------------------------------------------------------===//

  using Values = llvm::SmallVector<mlir::Value>;
  /// Builds the ops of a region and says what it yields.
  using BuildBranch = llvm::function_ref<mlir::LogicalResult(Values &)>;
  /// The results of one of two regions; empty after an error.
  Values createIf(mlir::Value condition, BuildBranch thenBranch,
                  BuildBranch elseBranch);
  /// The results for the i-th of `keys` that `key` (a scalar) is equal to; for
  /// the last one if to none.
  Values
  choose(mlir::Value key, llvm::ArrayRef<int64_t> keys,
         llvm::function_ref<mlir::LogicalResult(size_t, Values &)> build);

  /// What a loop needs. The body gets the number of the iteration (a scalar)
  /// and the carried values; it says the next condition (null: true), the next
  /// carried values and the slices of what is collected.
  struct LoopBody {
    mlir::Value condition;
    Values carried, slices;
  };
  using BuildBody = llvm::function_ref<mlir::LogicalResult(
      mlir::Value, mlir::ValueRange, LoopBody &)>;
  /// The last carried values, then the collected ones; empty after an error.
  /// Null trip count: no limit; null condition: true.
  Values createLoop(mlir::Value tripCount, mlir::Value condition,
                    mlir::ValueRange inits, BuildBody build);

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// Binds the outputs; fails after an error, or where an output is asked for
  /// that there is no value of.
  mlir::LogicalResult done(llvm::ArrayRef<mlir::Value> results);
  /// What the outputs are bound to so far.
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

private:
  friend class Importer;

  /// What one attempt at a loop's body needs and finds.
  struct LoopAttempt;
  mlir::LogicalResult buildBody(LoopAttempt &attempt, BuildBody build);
  bool generalize(LoopAttempt &attempt, llvm::ArrayRef<mlir::Type> types,
                  llvm::SmallVector<mlir::Type> &next);
  llvm::SmallVector<mlir::Type> widenSlices(LoopAttempt &attempt);
  Values finishLoop(LoopAttempt &attempt, mlir::Value tripCount,
                    mlir::Value condition, mlir::ValueRange inits);
  /// The type that values of both types have, with a new symbol for each dim in
  /// which they differ, or that only their region knows; null if there is none.
  mlir::Type join(mlir::Type lhs, mlir::Type rhs, unsigned firstInnerSymbol,
                  llvm::SmallVectorImpl<int64_t> &symbols);
  /// The first branch with `takesThen`, else the other one, in place: the run
  /// checks that the condition chooses it.
  Values takeBranch(mlir::Value condition, bool takesThen, BuildBranch build);
  /// Whether the first one is to be taken of two branches of which only one
  /// can have the rank of the result.
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
