// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The table of operators of com.microsoft.
#ifndef ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H
#define ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace adze::importer {

/// Lists with blanks between. A parameter is `name:variable` or `name:type`,
/// with `?` if it may be left out and `*` if there are several of any of its
/// types; a variable is `T:type,type`; an attribute
/// is `name:kind`, i, f, s, g, or I, F, S (several), with `!` if it has to be
/// there and `=number` if it has a default. The body, if there is one, is nodes
/// of ai.onnx, a line each. `[x]` before a node is the condition that input x
/// is there, `[a=n]` and `[a<n]` one of an integer attribute (0 where it is
/// left out), `[a=text]` one of a string, `!` the opposite. Without a node that
/// applies for each output there is no body.
struct MicrosoftRow {
  llvm::StringRef name, inputs, outputs, variables, attributes, body = "";
};

llvm::ArrayRef<MicrosoftRow> getMicrosoftRows();

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_MICROSOFTROWS_H
