// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A module opened for the command line.

#include "Run.h"

#include <chrono>
#include <cstring>
#include <sys/stat.h>

namespace adze::run {

#define RUN_TRY(expression)                                                    \
  if (Error runTryError = (expression); !runTryError.empty())                  \
  return runTryError

Error take(adze_status status) {
  if (!status)
    return {};
  Error error = adze_status_message(status);
  adze_status_free(status);
  return error.empty() ? "unknown error" : error;
}

double nowMs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Error setOptions(const Arguments &arguments, adze_options *options) {
  if (!arguments.threads.empty())
    RUN_TRY(
        take(adze_options_set(options, "threads", arguments.threads.c_str())));
  if (!arguments.variant.empty())
    RUN_TRY(
        take(adze_options_set(options, "variant", arguments.variant.c_str())));
  return {};
}

Error Session::open(const Arguments &arguments) {
  adze_options *options = nullptr;
  adze_module *opened = nullptr;
  RUN_TRY(take(adze_options_create(&options)));
  Error error = setOptions(arguments, options);
  double begin = nowMs();
  if (error.empty())
    error = take(adze_module_open(arguments.module.c_str(), options, &opened));
  loadMs = nowMs() - begin;
  adze_options_release(options);
  RUN_TRY(error);
  module.reset(opened);
  inputInfos.resize(static_cast<size_t>(adze_module_num_inputs(opened)));
  outputInfos.resize(static_cast<size_t>(adze_module_num_outputs(opened)));
  for (size_t i = 0; i < inputInfos.size(); ++i)
    RUN_TRY(take(
        adze_module_input(opened, static_cast<int32_t>(i), &inputInfos[i])));
  for (size_t i = 0; i < outputInfos.size(); ++i)
    RUN_TRY(take(
        adze_module_output(opened, static_cast<int32_t>(i), &outputInfos[i])));
  inputs.resize(inputInfos.size());
  return {};
}

Error Session::createContext(const Arguments &arguments) {
  adze_context *created = nullptr;
  double begin = nowMs();
  RUN_TRY(take(adze_context_create(module.get(), arguments.device, &created)));
  loadMs += nowMs() - begin;
  context.reset(created);
  return {};
}

static std::string describeValue(const char *what,
                                 const adze_value_info *info) {
  std::string shape;
  for (int32_t d = 0; d < info->rank; ++d) {
    shape += d ? " x " : "";
    if (info->dims[d] >= 0)
      shape += std::to_string(info->dims[d]);
    else
      shape += *info->symbols[d] ? info->symbols[d] : "?";
  }
  return std::string(what) + " '" + info->name + "': " + typeName(info->dtype) +
         " " + (shape.empty() ? "scalar" : shape) + "\n";
}

std::string Session::describe() const {
  std::string text;
  for (const adze_value_info *info : inputInfos)
    text += describeValue("input", info);
  for (const adze_value_info *info : outputInfos)
    text += describeValue("output", info);
  return text;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static Error find(const char *what,
                  const std::vector<const adze_value_info *> &infos,
                  const std::string &name, size_t &index) {
  for (index = 0; index < infos.size(); ++index)
    if (name == infos[index]->name)
      return {};
  std::string known;
  for (const adze_value_info *info : infos)
    known += (known.empty() ? "'" : ", '") + std::string(info->name) + "'";
  return "no " + std::string(what) + " '" + name + "': the module has " +
         (known.empty() ? "none" : known);
}

Error Session::findInput(const std::string &name, size_t &index) const {
  return find("input", inputInfos, name, index);
}

Error Session::findOutput(const std::string &name, size_t &index) const {
  return find("output", outputInfos, name, index);
}

/// Raw bytes take the type that is wanted, if the sizes agree.
static void adoptType(Tensor &tensor, DLDataType wanted) {
  if (tensor.untyped &&
      (tensor.dtype.bits == wanted.bits || tensor.bytes.empty()))
    tensor.dtype = wanted;
}

Error Session::setInput(size_t index, Tensor tensor) {
  adoptType(tensor, inputInfos[index]->dtype);
  const adze_value_info *info = inputInfos[index];
  for (int32_t d = 0; d < info->rank; ++d)
    if (info->dims[d] < 0 && *info->symbols[d] &&
        static_cast<size_t>(d) < tensor.dims.size())
      symbols.push_back(
          {info->symbols[d], tensor.dims[static_cast<size_t>(d)]});
  inputs[index] = std::move(tensor);
  return {};
}

/// A dim without a value of its own is what the same name is elsewhere, else
/// the least that is allowed.
std::vector<int64_t> Session::shapeOf(size_t input,
                                      const Arguments &arguments) const {
  const adze_value_info *info = inputInfos[input];
  for (const auto &[name, dims] : arguments.shapes)
    if (name == info->name)
      return dims;
  std::vector<int64_t> dims(info->dims, info->dims + info->rank);
  for (int32_t d = 0; d < info->rank; ++d) {
    int64_t &dim = dims[static_cast<size_t>(d)];
    if (dim >= 0)
      continue;
    const adze_range &range = info->ranges[d];
    dim = range.min > 1 ? range.min : 1;
    if (range.multiple_of > 1)
      dim =
          (dim + range.multiple_of - 1) / range.multiple_of * range.multiple_of;
    for (const auto &[symbol, value] : symbols)
      if (symbol == info->symbols[d] && !symbol.empty())
        dim = value;
  }
  return dims;
}

void Session::bindSymbols(const Arguments &arguments) {
  for (const auto &[name, dims] : arguments.shapes)
    for (const adze_value_info *info : inputInfos)
      if (name == info->name)
        for (int32_t d = 0; d < info->rank; ++d)
          if (info->dims[d] < 0 && static_cast<size_t>(d) < dims.size())
            symbols.push_back({info->symbols[d], dims[static_cast<size_t>(d)]});
}

Error Session::readInputs(const Arguments &arguments) {
  for (const auto &[name, path] : arguments.inputs) {
    size_t index;
    RUN_TRY(findInput(name, index));
    Tensor tensor;
    std::string ignored;
    RUN_TRY(readTensor(path, shapeOf(index, arguments), tensor, ignored));
    RUN_TRY(setInput(index, std::move(tensor)));
  }
  for (const auto &[name, path] : arguments.expected) {
    Expected want;
    RUN_TRY(findOutput(name, want.output));
    std::string ignored;
    RUN_TRY(readTensor(path, {}, want.tensor, ignored));
    adoptType(want.tensor, outputInfos[want.output]->dtype);
    expected.push_back(std::move(want));
  }
  return {};
}

static bool exists(const std::string &path) {
  struct stat info;
  return !stat(path.c_str(), &info);
}

/// Files are numbered as the model's inputs are; a name in the file that one
/// of them has goes before the number.
Error Session::readTestDir(const std::string &dir) {
  if (!exists(dir))
    return dir + ": no such folder";
  for (size_t k = 0;; ++k) {
    std::string path = dir + "/input_" + std::to_string(k) + ".pb", name;
    if (!exists(path))
      break;
    Tensor tensor;
    RUN_TRY(readTensor(path, {}, tensor, name));
    size_t index = k;
    if (!findInput(name, index).empty())
      index = k;
    if (index >= inputs.size())
      return path + ": the module has only " + std::to_string(inputs.size()) +
             " inputs";
    RUN_TRY(setInput(index, std::move(tensor)));
  }
  for (size_t k = 0;; ++k) {
    std::string path = dir + "/output_" + std::to_string(k) + ".pb", name;
    if (!exists(path))
      break;
    Expected want;
    RUN_TRY(readTensor(path, {}, want.tensor, name));
    if (!findOutput(name, want.output).empty())
      want.output = k;
    if (want.output >= outputInfos.size())
      return path + ": the module has only " +
             std::to_string(outputInfos.size()) + " outputs";
    expected.push_back(std::move(want));
  }
  return expected.empty() ? dir + ": no output_0.pb" : "";
}

Error Session::fillInputs(const Arguments &arguments) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i])
      continue;
    if (!arguments.random)
      return "input '" + std::string(inputInfos[i]->name) +
             "' has no contents: give --input, --test-dir or --random";
    Tensor tensor;
    tensor.dtype = inputInfos[i]->dtype;
    tensor.dims = shapeOf(i, arguments);
    Error error =
        fillRandom(tensor, static_cast<uint64_t>(arguments.seed) * 1000003u + i,
                   arguments.ids);
    if (!error.empty())
      return "input '" + std::string(inputInfos[i]->name) + "': " + error;
    inputs[i] = std::move(tensor);
  }
  return {};
}

Error Session::gatherInputs(const Arguments &arguments) {
  for (const auto &[name, dims] : arguments.shapes) {
    size_t index;
    RUN_TRY(findInput(name, index));
  }
  bindSymbols(arguments);
  RUN_TRY(readInputs(arguments));
  if (!arguments.testDir.empty())
    RUN_TRY(readTestDir(arguments.testDir));
  return fillInputs(arguments);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Error Session::inferOutputs() {
  std::vector<adze_shape> given, wanted;
  for (std::optional<Tensor> &input : inputs)
    given.push_back(
        {static_cast<int32_t>(input->dims.size()), input->dims.data()});
  for (Tensor &output : outputs)
    wanted.push_back(
        {static_cast<int32_t>(output.dims.size()), output.dims.data()});
  return take(adze_infer_shapes(
      module.get(), given.data(), static_cast<int32_t>(given.size()),
      wanted.data(), static_cast<int32_t>(wanted.size()), nullptr));
}

Error Session::allocateOutputs() {
  outputs.resize(outputInfos.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].dtype = outputInfos[i]->dtype;
    outputs[i].dims.assign(static_cast<size_t>(outputInfos[i]->rank), 0);
  }
  RUN_TRY(inferOutputs());
  for (const Tensor &output : outputs)
    for (int64_t dim : output.dims)
      runAllocates |= dim < 0;
  for (Tensor &output : outputs) {
    if (runAllocates)
      break;
    output.resize();
    outputViews.push_back(output.view());
  }
  for (std::optional<Tensor> &input : inputs)
    inputViews.push_back(input->view());
  return {};
}

/// Outputs on the CPU, whatever the device, that the run time makes.
Error Session::runAllocating(const std::vector<const DLTensor *> &in) {
  std::vector<DLManagedTensorVersioned *> made(outputs.size(), nullptr);
  RUN_TRY(take(adze_run_alloc(context.get(), in.data(),
                              static_cast<int32_t>(in.size()), made.data(),
                              static_cast<int32_t>(made.size()))));
  Error error;
  for (size_t i = 0; i < made.size(); ++i) {
    const DLTensor &tensor = made[i]->dl_tensor;
    outputs[i].dims.assign(tensor.shape, tensor.shape + tensor.ndim);
    outputs[i].resize();
    if (tensor.device.device_type != kDLCPU)
      error = "outputs whose shape only the run can tell are read on the CPU "
              "only";
    else if (!outputs[i].bytes.empty())
      std::memcpy(outputs[i].bytes.data(),
                  static_cast<char *>(tensor.data) + tensor.byte_offset,
                  outputs[i].bytes.size());
    made[i]->deleter(made[i]);
  }
  return error;
}

Error Session::runOnce() {
  std::vector<const DLTensor *> in;
  std::vector<DLTensor *> out;
  for (const DLTensor &view : inputViews)
    in.push_back(&view);
  if (runAllocates)
    return runAllocating(in);
  for (DLTensor &view : outputViews)
    out.push_back(&view);
  return take(adze_run(context.get(), in.data(),
                       static_cast<int32_t>(in.size()), out.data(),
                       static_cast<int32_t>(out.size())));
}

Error Session::profile(const std::string &path) {
  const char *json;
  RUN_TRY(take(adze_profile_begin(context.get())));
  RUN_TRY(runOnce());
  RUN_TRY(take(adze_profile_end(context.get(), &json)));
  return writeBytes(path, std::vector<char>(json, json + std::strlen(json)));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Error Session::check(const Arguments &arguments, std::string &report) const {
  Error errors;
  std::vector<std::string> summaries(outputs.size());
  for (const Expected &want : expected) {
    const char *name = outputInfos[want.output]->name;
    std::string summary;
    Error error = compare(outputs[want.output], want.tensor,
                          arguments.tolerance, summary);
    summaries[want.output] = summary;
    if (!error.empty())
      errors += (errors.empty() ? "output '" : "\noutput '") +
                std::string(name) + "': " + error;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    report += "output '" + std::string(outputInfos[i]->name) +
              "': " + typeName(outputs[i].dtype) + " " +
              shapeText(outputs[i].dims);
    report += (summaries[i].empty() ? "" : ": " + summaries[i]) + "\n";
  }
  return errors;
}

static Error makeFolder(const std::string &dir) {
  for (size_t at = 0; at != std::string::npos;) {
    at = dir.find('/', at + 1);
    std::string part = dir.substr(0, at);
    if (mkdir(part.c_str(), 0777) && errno != EEXIST)
      return part + ": " + std::strerror(errno);
  }
  return {};
}

Error Session::writeOutputs(const Arguments &arguments) const {
  RUN_TRY(makeFolder(arguments.outputDir));
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string file = outputInfos[i]->name;
    for (char &c : file)
      c = c == '/' ? '_' : c;
    std::string path =
        arguments.outputDir + "/" + file + "." + arguments.format;
    std::vector<char> bytes;
    RUN_TRY(arguments.format == "npy"
                ? writeNpy(outputs[i], bytes)
                : writeTensorProto(outputs[i], outputInfos[i]->name, bytes));
    RUN_TRY(writeBytes(path, bytes));
  }
  return {};
}

} // namespace adze::run
