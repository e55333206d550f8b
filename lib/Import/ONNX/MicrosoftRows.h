// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The table of operators of com.microsoft.
#ifndef ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H
#define ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace adze::importer {

/// Lists are separated by blanks. A parameter is `name:variable` or
/// `name:type`, with `?` if it is optional, and `*` if it is variadic with any
/// of its types. A variable is `T:type,type`. An attribute is `name:kind`, with
/// kind i, f, s, g, or I, F, S (lists), with `!` if it is required and
/// `=number` for a default. The body, if there is one, is nodes of ai.onnx, one
/// in each line. `[x]` before a node is the condition that input x is present,
/// `[a=n]` and `[a<n]` one on an integer attribute (0 if absent), `[a=text]`
/// one on a string, and `!` negates. There is no body unless a node defines
/// each output.
struct MicrosoftRow {
  llvm::StringRef name, inputs, outputs, variables, attributes, body = "";
};

llvm::ArrayRef<MicrosoftRow> getMicrosoftRows();

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H
