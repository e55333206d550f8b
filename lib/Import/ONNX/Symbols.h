// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The symbolic dims of the imported function.
#ifndef ADZE_LIB_IMPORT_ONNX_SYMBOLS_H
#define ADZE_LIB_IMPORT_ONNX_SYMBOLS_H

#include "Import/ONNX/Import.h"
#include "Model.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace adze::importer {

class Symbols {
public:
  Symbols(mlir::MLIRContext *context, const ImportOptions &options)
      : context(context), options(options) {}

  /// Returns the size of a dim of a graph input.
  mlir::AffineExpr getDim(const Dim &dim);

  /// Returns the size of input dims of this name, or null.
  mlir::AffineExpr find(llvm::StringRef name) const {
    return byName.lookup(name);
  }

  /// Fixes the symbol of this name. Returns false if it has another size.
  bool fix(llvm::StringRef name, int64_t size);
  /// Returns true if an option makes the dims of this name separate symbols.
  bool isApart(llvm::StringRef name);

  /// Returns a new symbol without constraints.
  mlir::AffineExpr makeFresh();

  /// Assumes `expr` >= 0 by narrowing the range of its symbol, which is checked
  /// at run time. Returns false if this is not expressible as one range.
  bool assumeNonNegative(mlir::AffineExpr expr);

  /// Returns an error about unused options, if there are any.
  std::optional<std::string> findUnused() const;

  /// Adds graph.symbols and graph.symbol_ranges: [min, max, common] for each
  /// symbol, with -1 for unknown max and common. The latter is added only if a
  /// range is known.
  void addAttributes(mlir::OpBuilder &builder,
                     llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

  unsigned count() const { return symbols.size(); }

private:
  struct Symbol {
    std::string name;
    int64_t min = 0, max = -1, common = -1;
  };

  mlir::MLIRContext *context;
  const ImportOptions &options;
  std::vector<Symbol> symbols;
  llvm::StringMap<mlir::AffineExpr> byName;
  llvm::StringMap<bool> parted; // names whose options make them ambiguous
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_SYMBOLS_H
