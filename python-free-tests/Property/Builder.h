// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What op families make random graphs with.
#ifndef ADZE_TESTS_PROPERTY_BUILDER_H
#define ADZE_TESTS_PROPERTY_BUILDER_H

#include "Generate.h"

namespace property {

using adze::graph::Dims;
using mlir::Value;

/// What is known of a value, beside its type.
struct Fact {
  /// Equal in all its bits on every path: only of such may be asked which of
  /// two is greater, or what its integer part is.
  bool exact = true;
  /// Finite and of moderate size.
  bool tame = true;
};

class GraphBuilder {
public:
  GraphBuilder(mlir::MLIRContext &context, uint64_t seed);
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  Random random;
  mlir::OpBuilder builder;
  std::vector<Value> values; // all that there are
  unsigned depth = 0;        // of regions around what is added
  bool hasControl = false;   // branches and loops
  /// Operands of which it is dynamic whether they fit.
  void mixSizes(bool value);

  //===--- Types ----------------------------------------------------------===//

  static mlir::RankedTensorType typeOf(Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  static mlir::Type elementOf(Value value) {
    return typeOf(value).getElementType();
  }
  static int64_t rankOf(Value value) { return typeOf(value).getRank(); }
  static bool isFloat(Value value) {
    return llvm::isa<mlir::FloatType>(elementOf(value));
  }
  static bool isBool(Value value) { return elementOf(value).isInteger(1); }
  mlir::AffineExpr expr(int64_t value) {
    return mlir::getAffineConstantExpr(value, builder.getContext());
  }
  /// Static, or -1.
  static int64_t sizeOf(Value value, int64_t dim) {
    int64_t size = typeOf(value).getDimSize(dim);
    return mlir::ShapedType::isDynamic(size) ? -1 : size;
  }
  mlir::Type randomFloat();
  Dims randomDims(int64_t rank);

  //===--- Values ---------------------------------------------------------===//

  Fact fact(Value value) { return facts.lookup(value); }
  /// One that `accepts`, null if there is none.
  Value pick(llvm::function_ref<bool(Value)> accepts);
  Value pickFloat(int64_t minRank = 0);
  Value pickExactFloat(int64_t minRank = 0);
  Value input(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims,
              bool tame);
  Value indices(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims,
                int64_t size);
  /// A constant of numbers, or an input of that type.
  Value weights(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims);
  Value constant(mlir::Type element, llvm::ArrayRef<int64_t> dims);
  Value scalar(mlir::Type element, double value);
  /// `value`'s shape, or one that broadcasts to it.
  Value partner(Value value);

  //===--- Ops ------------------------------------------------------------===//

  mlir::NamedAttribute attr(llvm::StringRef name, llvm::ArrayRef<int64_t> v) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(v));
  }
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t v) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(v));
  }
  mlir::NamedAttribute flag(llvm::StringRef name, bool v) {
    return builder.getNamedAttr(name, builder.getBoolAttr(v));
  }
  mlir::NamedAttribute number(llvm::StringRef name, double v) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(v));
  }
  /// Adds graph.NAME with inferred types, or these; null if that is not legal.
  Value op(llvm::StringRef name, llvm::ArrayRef<Value> operands,
           llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
           mlir::TypeRange types = {});
  /// The same of which the result is no more exact than the operands.
  Value exactOp(llvm::StringRef name, llvm::ArrayRef<Value> operands,
                llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                mlir::TypeRange types = {});
  /// tanh(x) * scale: moderate whatever x is.
  Value bounded(Value value, double scale);
  /// |tanh(x)| * 4 + 0.25.
  Value positive(Value value);

  /// Makes an argument of a region known.
  void know(Value value) { add(value, {!isFloat(value), false}); }
  /// A symbol that a loop gives its value.
  mlir::AffineExpr dataSymbol();
  /// A symbol that an input gives its value, with mixed sizes; else null.
  mlir::AffineExpr boundSymbol();
  /// Adds a branch or loop, or nothing if it is not legal.
  void addControl(mlir::OperationState &state);

private:
  Value add(Value value, Fact fact);
  void mix(Dims &dims);
  /// No tensor may grow without limit, and every dim has to be known.
  bool isSmall(mlir::Type type) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::DenseMap<Value, Fact> facts;
  int64_t numSymbols; // that inputs have
  /// With mixed sizes: values of the symbols for which all fit.
  llvm::SmallVector<int64_t> sizes;
  llvm::DenseMap<unsigned, int64_t> boundSizes; // the same of those of the data
  int64_t numDataSymbols = 0;
};

// Each adds one op or a few, or nothing where nothing fits.
void addPointwise(GraphBuilder &b);
void addIntegers(GraphBuilder &b);
void addReduction(GraphBuilder &b);
void addNormalization(GraphBuilder &b);
void addContraction(GraphBuilder &b);
void addWindow(GraphBuilder &b);
void addMovement(GraphBuilder &b);
void addLookup(GraphBuilder &b);
void addIdiom(GraphBuilder &b);
void addControl(GraphBuilder &b);
/// One of all these.
void addSome(GraphBuilder &b);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_BUILDER_H
