// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the operators of ai.onnx.ml.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H

#include "../Binder.h"

namespace adze::importer {

/// Returns a constant of any size, with numbers rounded to the type.
mlir::Value makeTable(Binder &b, mlir::Type elementType,
                      llvm::ArrayRef<double> values,
                      llvm::ArrayRef<int64_t> shape);

/// Returns the numbers of an attribute: floats, integers, or those of the
/// tensor NAME_as_tensor. Empty if neither exists.
std::vector<double> getNumbers(Binder &b, llvm::StringRef name);

/// Returns operand 0 as [N, F] in a float type: integers as f32, a vector as
/// one row. Emits an error and returns null for more dims.
mlir::Value getFloatRows(Binder &b);

/// Applies the attribute `post_transform` to scores [N, K].
mlir::Value transformScores(Binder &b, mlir::Value scores,
                            llvm::StringRef transform);

/// Returns both scores, [N, 2], of two classes from scores [N, 1] of the second
/// one. With `share`, scores are probabilities.
mlir::Value makeBinaryScores(Binder &b, mlir::Value scores, bool share,
                             llvm::StringRef transform);

/// Returns the labels of indices, or the indices without labels.
mlir::Value getLabels(Binder &b, mlir::Value index, llvm::StringRef integers,
                      llvm::StringRef strings);

/// Returns the index of the greatest score of each row.
mlir::Value getGreatest(Binder &b, mlir::Value scores);

/// Returns the numbers of an attribute, [n], in the type of `like`: one, or one
/// for each feature.
mlir::Value getRow(Binder &b, llvm::StringRef name, mlir::Value like);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H
