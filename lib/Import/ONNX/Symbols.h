// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The symbolic dims of the function that is imported.
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

  /// The size of a dim of a graph input.
  mlir::AffineExpr getDim(const Dim &dim);

  /// The size that inputs' dims of this name have; null if there are none.
  mlir::AffineExpr find(llvm::StringRef name) const {
    return byName.lookup(name);
  }

  /// Fixes the symbol of this name from now on; false if it has another size.
  bool fix(llvm::StringRef name, int64_t size);
  /// Whether an option gives the dims of this name a size each.
  bool isApart(llvm::StringRef name);

  /// A size that nothing is known of.
  mlir::AffineExpr makeFresh();

  /// Takes `expr` >= 0 for granted: narrows the range of its symbol, which the
  /// run time checks. False if it can be false and one range cannot say so.
  bool assumeNonNegative(mlir::AffineExpr expr);

  /// Says why options are left over, if they are.
  std::optional<std::string> findUnused() const;

  /// graph.symbols, and graph.symbol_ranges: [min, max, common] a symbol, max
  /// and common -1 if not known. The latter only where something is known.
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
  llvm::StringMap<bool> parted; // names that options give no meaning
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_SYMBOLS_H
