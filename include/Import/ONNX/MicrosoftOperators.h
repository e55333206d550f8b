// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Definitions of operators that the ONNX library does not have.
#ifndef ADZE_IMPORT_ONNX_MICROSOFTOPERATORS_H
#define ADZE_IMPORT_ONNX_MICROSOFTOPERATORS_H

namespace adze {

inline constexpr const char *kMicrosoftDomain = "com.microsoft";

/// Adds the operators of com.microsoft to the ONNX library's registry, once.
void registerMicrosoftOperators();

} // namespace adze

#endif // ADZE_IMPORT_ONNX_MICROSOFTOPERATORS_H
