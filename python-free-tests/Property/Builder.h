// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The interface of op families for the generation of random graphs.
#ifndef ADZE_TESTS_PROPERTY_BUILDER_H
#define ADZE_TESTS_PROPERTY_BUILDER_H

#include "Generate.h"

namespace property {

using adze::graph::Dims;
using mlir::Value;

/// Known properties of a value, besides its type.
struct Fact {
  /// Equal in all bits on every path: only such values may be compared or
  /// truncated to integers.
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
  std::vector<Value> values; // all of them
  unsigned depth = 0;        // of regions around the added op
  bool hasControl = false;   // branches and loops
  /// Operands whose fit is dynamic.
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
  /// Returns the static size, or -1.
  static int64_t sizeOf(Value value, int64_t dim) {
    int64_t size = typeOf(value).getDimSize(dim);
    return mlir::ShapedType::isDynamic(size) ? -1 : size;
  }
  mlir::Type randomFloat();
  Dims randomDims(int64_t rank);

  //===--- Values ---------------------------------------------------------===//

  Fact fact(Value value) { return facts.lookup(value); }
  /// Returns a value that `accepts`, or null.
  Value pick(llvm::function_ref<bool(Value)> accepts);
  Value pickFloat(int64_t minRank = 0);
  Value pickExactFloat(int64_t minRank = 0);
  Value input(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims,
              bool tame);
  Value indices(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims,
                int64_t size);
  /// Returns a constant of numbers, or an input of that type.
  Value weights(mlir::Type element, llvm::ArrayRef<mlir::AffineExpr> dims);
  Value constant(mlir::Type element, llvm::ArrayRef<int64_t> dims);
  Value scalar(mlir::Type element, double value);
  /// Returns `value`'s shape, or one that broadcasts to it.
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
  /// Adds graph.NAME with inferred types, or these; returns null if that is not
  /// legal.
  Value op(llvm::StringRef name, llvm::ArrayRef<Value> operands,
           llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
           mlir::TypeRange types = {});
  /// Does the same, with a result that is no more exact than the operands.
  Value exactOp(llvm::StringRef name, llvm::ArrayRef<Value> operands,
                llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                mlir::TypeRange types = {});
  /// Returns tanh(x) * scale, which is moderate for all x.
  Value bounded(Value value, double scale);
  /// Returns |tanh(x)| * 4 + 0.25.
  Value positive(Value value);

  /// Adds an argument of a region to the values.
  void know(Value value) { add(value, {!isFloat(value), false}); }
  /// Returns a symbol that a loop binds.
  mlir::AffineExpr dataSymbol();
  /// Returns a symbol that an input binds, with mixed sizes; else null.
  mlir::AffineExpr boundSymbol();
  /// Adds a branch or loop, or nothing if it is not legal.
  void addControl(mlir::OperationState &state);

private:
  Value add(Value value, Fact fact);
  void mix(Dims &dims);
  /// Tensors must not grow without limit, and every dim must be known.
  bool isSmall(mlir::Type type) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::DenseMap<Value, Fact> facts;
  int64_t numSymbols; // bound by inputs
  /// With mixed sizes: values of the symbols for which all ops fit.
  llvm::SmallVector<int64_t> sizes;
  llvm::DenseMap<unsigned, int64_t>
      boundSizes; // the same for data-dependent symbols
  int64_t numDataSymbols = 0;
};

// Each function adds one or a few ops, or none if nothing fits.
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
/// Add convolutions of 8-bit integers, and of a signal.
void addQuantized(GraphBuilder &b);
void addSignal(GraphBuilder &b);
/// Calls one of the others.
void addSome(GraphBuilder &b);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_BUILDER_H
