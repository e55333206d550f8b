// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of models for tests.
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

/// The type of a type variable in an operator's definition.
struct OperatorType {
  std::string domain, name;
  std::string variable, type; // "T", "bfloat16"

  bool operator<(const OperatorType &other) const {
    return std::tie(domain, name, variable, type) <
           std::tie(other.domain, other.name, other.variable, other.type);
  }
};

struct ModelSummary {
  std::vector<std::string> inputs,
      outputs;                         // names, in order; without constants
  std::string firstOperator;           // nodes other than Constant
  std::set<OperatorVersion> operators; // also in graphs and functions
  std::set<OperatorType> types;        // also in graphs
};

Error readSummary(const std::string &path, ModelSummary &summary);

/// Writes the model with every dim of every input dynamic, and therefore those
/// of its outputs and of intermediate values.
Error writeDynamicModel(const std::string &from, const std::string &to);

/// A model that uses all parts of the compiler.
Error writeWarmUpModel(const std::string &to);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_MODEL_H
