// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A linked module without inputs, whose program is the test's: it calls
// functions of the host table one by one.

#ifndef ADZE_TEST_RUNTIME_FUNCTION_CALLS_H
#define ADZE_TEST_RUNTIME_FUNCTION_CALLS_H

#include "ValueTypes.h"

#include "LinkedModule.h"
#include "RuntimeTest.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace adze::test {

constexpr int64_t kBool = ADZE_VALUE_TYPE(kDLBool, 8, ADZE_TENSOR);

/// A value of a call; for results, the expected dims, then the actual ones.
struct Operand {
  int64_t type;
  std::vector<int64_t> dims;
  std::vector<char> data = {};

  template <typename T>
  T at(size_t i) const {
    T value;
    std::memcpy(&value, &data.at(i * sizeof(T)), sizeof(T));
    return value;
  }
};

template <typename T>
Operand make(int64_t type, std::vector<int64_t> dims,
             const std::vector<T> &values) {
  Operand operand{type, std::move(dims),
                  std::vector<char>(values.size() * sizeof(T))};
  if (!values.empty())
    std::memcpy(operand.data.data(), values.data(), operand.data.size());
  return operand;
}
inline Operand scalar(int64_t value) {
  return make<int64_t>(kInt, {}, {value});
}
inline Operand vector(const std::vector<float> &values) {
  return make<float>(kFloat, {static_cast<int64_t>(values.size())}, values);
}
inline Operand vector(const std::vector<int64_t> &values) {
  return make<int64_t>(kInt, {static_cast<int64_t>(values.size())}, values);
}

inline size_t bytesOf(const Operand &operand) {
  size_t bytes = (operand.type >> 8 & 255) / 8;
  for (int64_t dim : operand.dims)
    bytes *= static_cast<size_t>(dim);
  return bytes;
}

/// The interface of the run time for a program.
struct Calls {
  const adze_host_table *host;
  adze_exec *exec;

  int32_t operator()(const char *function, std::vector<Operand> inputs,
                     std::vector<Operand> &results) const {
    std::vector<int64_t> words;
    std::vector<void *> places;
    for (Operand &input : inputs)
      places.push_back(input.data.data());
    for (const std::vector<Operand> *list : {&inputs, &results})
      for (const Operand &operand : *list) {
        words.push_back(operand.type);
        words.push_back(static_cast<int64_t>(operand.dims.size()));
        words.insert(words.end(), operand.dims.begin(), operand.dims.end());
      }
    if (int32_t code =
            host->call(exec, "Node_0", function, places.data(),
                       static_cast<uint32_t>(inputs.size()),
                       static_cast<uint32_t>(results.size()), words.data()))
      return code;
    size_t at = 0;
    for (const Operand &input : inputs)
      at += 2 + input.dims.size();
    for (uint32_t i = 0; i < results.size(); ++i) {
      Operand &result = results[i];
      std::copy_n(words.begin() + static_cast<long>(at) + 2, result.dims.size(),
                  result.dims.begin());
      at += 2 + result.dims.size();
      result.data.resize(bytesOf(result) + 1); // never without a buffer
      if (int32_t code =
              host->fetch(exec, i, result.data.data(), bytesOf(result)))
        return code;
    }
    return 0;
  }
};

inline std::vector<std::string> gStrings;
inline std::vector<adze_module_string> gTable;
inline std::function<int32_t(const Calls &)> gProgram;

inline int32_t runTheProgram(const adze_host_table *host, adze_exec *exec,
                             void *const *, void *const *, void *, const void *,
                             const int64_t *) {
  return gProgram({host, exec});
}
inline void inferNothing(const int64_t *, int64_t *) {}
inline int64_t noBytes(const int64_t *) { return 0; }

inline const adze_cpu_variant kProgramVariants[] = {{0, "baseline", nullptr}};

inline const adze_module_desc *queryProgram(uint32_t) {
  static adze_module_desc desc;
  desc = makeDescriptor();
  desc.num_variants = 1;
  desc.variants = kProgramVariants;
  desc.run = runTheProgram;
  desc.infer = inferNothing;
  desc.arena_bytes = noBytes;
  gTable.clear();
  for (const std::string &text : gStrings)
    gTable.push_back({text.c_str(), text.size()});
  desc.strings = gTable.data();
  desc.num_strings = gTable.size();
  return &desc;
}

inline adze_status runProgram(std::function<int32_t(const Calls &)> program) {
  gProgram = std::move(program);
  adze_module *opened = nullptr;
  if (adze_status status = adze_module_link(
          reinterpret_cast<adze_query_fn>(queryProgram), nullptr, &opened))
    return status;
  ModulePtr module(opened);
  adze_context *made = nullptr;
  if (adze_status status = adze_context_create(opened, kCpu, &made))
    return status;
  ContextPtr context(made);
  return adze_run_values(context.get(), nullptr, 0, nullptr, 0);
}

/// One call of a function.
inline adze_status runOne(const char *function, std::vector<Operand> inputs,
                          std::vector<Operand> &results) {
  return runProgram([&](const Calls &call) {
    return call(function, std::move(inputs), results);
  });
}

/// The strings of the module, and a vector of all but "".
inline Operand setStrings(const std::vector<std::string> &texts) {
  gStrings = {""};
  std::vector<int64_t> numbers;
  for (const std::string &text : texts) {
    size_t at = 0;
    while (at < gStrings.size() && gStrings[at] != text)
      ++at;
    if (at == gStrings.size())
      gStrings.push_back(text);
    numbers.push_back(static_cast<int64_t>(at));
  }
  return make<int64_t>(kString, {static_cast<int64_t>(texts.size())}, numbers);
}

/// Element i of a vector of strings, as a vector or a scalar.
inline Operand pick(const Operand &strings, size_t i) {
  return make<int64_t>(kString, {}, {strings.at<int64_t>(i)});
}

} // namespace adze::test

#endif // ADZE_TEST_RUNTIME_FUNCTION_CALLS_H
