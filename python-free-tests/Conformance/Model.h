// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a test has to know of a model and its data: the only file that reads
// ONNX's protocol buffers.
#ifndef ADZE_TESTS_CONFORMANCE_MODEL_H
#define ADZE_TESTS_CONFORMANCE_MODEL_H

#include "Value.h"
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

struct ModelSummary {
  std::vector<std::string> inputs, outputs; // names, in order; no constants
  std::string firstOperator;                // that is no Constant
  std::set<OperatorVersion> operators;      // also in graphs and functions
};

Error readSummary(const std::string &path, ModelSummary &summary);

/// Writes the model with every dim of every input unknown, and so those of its
/// outputs and of what lies between.
Error writeDynamicModel(const std::string &from, const std::string &to);

/// A model that goes through all parts of the compiler.
Error writeWarmUpModel(const std::string &to);

/// Reads the data of an input or output of the model at `modelPath`, whose type
/// says what the file holds.
class DataReader {
public:
  explicit DataReader(const std::string &modelPath);
  ~DataReader();
  Error read(const std::string &path, bool isInput, const std::string &name,
             Value &result);

private:
  struct Model;
  std::unique_ptr<Model> model;
};

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_MODEL_H
