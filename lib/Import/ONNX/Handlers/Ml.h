// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the operators of ai.onnx.ml share.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H

#include "../Binder.h"

namespace adze::importer {

/// A constant of numbers, of any size; they are rounded to the type.
mlir::Value makeTable(Binder &b, mlir::Type elementType,
                      llvm::ArrayRef<double> values,
                      llvm::ArrayRef<int64_t> shape);

/// The numbers of an attribute: floats, integers, or a tensor of such that
/// NAME_as_tensor holds. Empty if neither is there.
std::vector<double> getNumbers(Binder &b, llvm::StringRef name);

/// Operand 0 as [N, F] in a float type: integers as f32, a vector as one row.
/// None, and an error, if it has more dims.
mlir::Value getFloatRows(Binder &b);

/// Scores [N, K] after the attribute `post_transform`.
mlir::Value transformScores(Binder &b, mlir::Value scores,
                            llvm::StringRef transform);

/// Of scores [N, 1] of two classes both, [N, 2]: the second is the class of
/// great scores. `share`: scores are shares of 1.
mlir::Value makeBinaryScores(Binder &b, mlir::Value scores, bool share,
                             llvm::StringRef transform);

/// The labels of indices; the indices themselves where there are none.
mlir::Value getLabels(Binder &b, mlir::Value index, llvm::StringRef integers,
                      llvm::StringRef strings);

/// The place of the greatest score of each row.
mlir::Value getGreatest(Binder &b, mlir::Value scores);

/// The numbers of an attribute, [n], of the type of `like`: one, or one a
/// feature.
mlir::Value getRow(Binder &b, llvm::StringRef name, mlir::Value like);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_ML_H
