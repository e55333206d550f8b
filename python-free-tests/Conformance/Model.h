// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a test has to know of a model.
#ifndef ADZE_TESTS_CONFORMANCE_MODEL_H
#define ADZE_TESTS_CONFORMANCE_MODEL_H

#include "Compare.h"
#include <set>

namespace conformance {

struct OperatorVersion {
  std::string domain, name; // domain "" is ai.onnx
  int sinceVersion = 0;

  bool operator<(const OperatorVersion &other) const {
    return std::tie(domain, name, sinceVersion) <
           std::tie(other.domain, other.name, other.sinceVersion);
  }
};

/// A type that a variable of an operator's definition stands for.
struct OperatorType {
  std::string domain, name;
  std::string variable, type; // "T", "bfloat16"

  bool operator<(const OperatorType &other) const {
    return std::tie(domain, name, variable, type) <
           std::tie(other.domain, other.name, other.variable, other.type);
  }
};

struct ModelSummary {
  std::vector<std::string> inputs, outputs; // names, in order; no constants
  std::string firstOperator;                // that is no Constant
  std::set<OperatorVersion> operators;      // also in graphs and functions
  std::set<OperatorType> types;             // also in graphs
};

Error readSummary(const std::string &path, ModelSummary &summary);

/// Writes the model with every dim of every input unknown, and so those of its
/// outputs and of what lies between.
Error writeDynamicModel(const std::string &from, const std::string &to);

/// A model that goes through all parts of the compiler.
Error writeWarmUpModel(const std::string &to);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_MODEL_H
