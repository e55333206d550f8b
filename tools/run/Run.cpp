// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a module for the command line.

#include "Run.h"

#include "Output.h"

#include <chrono>
#include <cstring>
#include <sys/stat.h>

namespace adze::run {

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
  for (const auto *infos : {&inputInfos, &outputInfos})
    for (const adze_value_info *info : *infos)
      onlyTensors &= info->kind == ADZE_TENSOR;
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
  std::string type = info->type ? info->type : typeName(info->dtype);
  if (info->kind == ADZE_TENSOR || info->kind == ADZE_STRINGS)
    type += " " + (shape.empty() ? "scalar" : shape);
  return std::string(what) + " '" + info->name + "': " + type + "\n";
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

/// Raw bytes get the required type; their number must match.
static Error adoptType(const std::string &path, Tensor &tensor,
                       DLDataType wanted) {
  if (!tensor.untyped)
    return {};
  size_t bytes = (static_cast<size_t>(tensor.elements()) * wanted.bits + 7) / 8;
  if (tensor.bytes.size() != bytes)
    return path + ": expected " + std::to_string(bytes) + " bytes of " +
           typeName(wanted) + " " + shapeText(tensor.dims) + ", but got " +
           std::to_string(tensor.bytes.size());
  tensor.dtype = wanted;
  return {};
}

Error Session::setInput(const std::string &path, size_t index, Value value) {
  Tensor &tensor = value.tensor;
  RUN_TRY(adoptType(path, tensor, inputInfos[index]->dtype));
  const adze_value_info *info = inputInfos[index];
  for (int32_t d = 0; d < info->rank; ++d)
    if (info->dims[d] < 0 && *info->symbols[d] &&
        static_cast<size_t>(d) < tensor.dims.size())
      symbols.push_back(
          {info->symbols[d], tensor.dims[static_cast<size_t>(d)]});
  inputs[index] = std::move(value);
  return {};
}

/// A dim without a given value has that of the same name elsewhere, or else the
/// least allowed one.
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
    Value value;
    std::string ignored;
    RUN_TRY(readValue(path, inputInfos[index]->kind, shapeOf(index, arguments),
                      value, ignored));
    RUN_TRY(setInput(path, index, std::move(value)));
  }
  for (const auto &[name, path] : arguments.expected) {
    Expected want;
    RUN_TRY(findOutput(name, want.output));
    std::string ignored;
    RUN_TRY(readValue(path, outputInfos[want.output]->kind, {}, want.value,
                      ignored));
    if (!want.value.tensor.unshaped)
      RUN_TRY(
          adoptType(path, want.value.tensor, outputInfos[want.output]->dtype));
    expected.push_back(std::move(want));
  }
  return {};
}

static bool exists(const std::string &path) {
  struct stat info;
  return !stat(path.c_str(), &info);
}

/// Reads file number k of a test, for the input or output with that index, or
/// with the name in the file.
static Error readNumbered(const std::string &path, const char *what,
                          const std::vector<const adze_value_info *> &infos,
                          size_t k, size_t &index, Value &value) {
  adze_kind kind = k < infos.size() ? infos[k]->kind : ADZE_TENSOR;
  std::string name;
  RUN_TRY(readValue(path, kind, {}, value, name));
  if (!find(what, infos, name, index).empty())
    index = k;
  if (index >= infos.size())
    return path + ": the module has only " + std::to_string(infos.size()) +
           " " + what + "s";
  if (infos[index]->kind == kind)
    return {};
  value = Value();
  return readValue(path, infos[index]->kind, {}, value, name);
}

Error Session::readTestDir(const std::string &dir) {
  if (!exists(dir))
    return dir + ": no such folder";
  for (size_t k = 0;; ++k) {
    std::string path = dir + "/input_" + std::to_string(k) + ".pb";
    if (!exists(path))
      break;
    Value value;
    size_t index;
    RUN_TRY(readNumbered(path, "input", inputInfos, k, index, value));
    RUN_TRY(setInput(path, index, std::move(value)));
  }
  for (size_t k = 0;; ++k) {
    std::string path = dir + "/output_" + std::to_string(k) + ".pb";
    if (!exists(path))
      break;
    Expected want;
    RUN_TRY(
        readNumbered(path, "output", outputInfos, k, want.output, want.value));
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
    if (inputInfos[i]->kind != ADZE_TENSOR)
      return "input '" + std::string(inputInfos[i]->name) +
             "' has no contents: expected --input or --test-dir for what is no "
             "tensor of numbers";
    Value value;
    Tensor &tensor = value.tensor;
    tensor.dtype = inputInfos[i]->dtype;
    tensor.dims = shapeOf(i, arguments);
    Error error =
        fillRandom(tensor, static_cast<uint64_t>(arguments.seed) * 1000003u + i,
                   arguments.ids);
    if (!error.empty())
      return "input '" + std::string(inputInfos[i]->name) + "': " + error;
    inputs[i] = std::move(value);
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
  for (std::optional<Value> &input : inputs)
    given.push_back({static_cast<int32_t>(input->tensor.dims.size()),
                     input->tensor.dims.data()});
  for (Value &output : outputs)
    wanted.push_back({static_cast<int32_t>(output.tensor.dims.size()),
                      output.tensor.dims.data()});
  return take(adze_infer_shapes(
      module.get(), given.data(), static_cast<int32_t>(given.size()),
      wanted.data(), static_cast<int32_t>(wanted.size()), nullptr));
}

Error Session::allocateOutputs() {
  outputs.resize(outputInfos.size());
  if (!onlyTensors)
    return prepareValues();
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].tensor.dtype = outputInfos[i]->dtype;
    outputs[i].tensor.dims.assign(static_cast<size_t>(outputInfos[i]->rank), 0);
  }
  RUN_TRY(inferOutputs());
  for (const Value &output : outputs)
    for (int64_t dim : output.tensor.dims)
      runAllocates |= dim < 0;
  for (Value &output : outputs) {
    if (runAllocates)
      break;
    output.tensor.resize();
    outputViews.push_back(output.tensor.view());
  }
  for (std::optional<Value> &input : inputs)
    inputViews.push_back(input->tensor.view());
  return {};
}

Error Session::prepareValues() {
  for (const std::optional<Value> &input : inputs)
    RUN_TRY(toRuntime(*input, inputHandles.emplace_back()));
  return {};
}

Error Session::runValues() {
  std::vector<const adze_value *> in;
  for (const ValueHandle &handle : inputHandles)
    in.push_back(handle.get());
  std::vector<adze_value *> made(outputs.size(), nullptr);
  RUN_TRY(take(adze_run_values(context.get(), in.data(),
                               static_cast<int32_t>(in.size()), made.data(),
                               static_cast<int32_t>(made.size()))));
  std::vector<ValueHandle> handles;
  for (adze_value *value : made)
    handles.emplace_back(value);
  for (size_t i = 0; i < made.size(); ++i) {
    outputs[i] = Value();
    RUN_TRY(fromRuntime(made[i], outputs[i]));
  }
  return {};
}

/// Copies a tensor of the run's device to one on the CPU.
static Error copyToHost(adze_context *context, const DLTensor &from,
                        Tensor &to) {
  if (from.device.device_type == kDLCPU) {
    copyTensor(from, to);
    return {};
  }
  takeShape(from, to);
  const char *data = static_cast<const char *>(from.data) + from.byte_offset;
  return to.bytes.empty() ? Error()
                          : take(adze_memory_copy(context, to.bytes.data(), 0,
                                                  data, 0, to.bytes.size(), 1));
}

/// Runs with outputs that the run time allocates, and copies them to the CPU.
Error Session::runAllocating(const std::vector<const DLTensor *> &in) {
  std::vector<DLManagedTensorVersioned *> made(outputs.size(), nullptr);
  RUN_TRY(take(adze_run_alloc(context.get(), in.data(),
                              static_cast<int32_t>(in.size()), made.data(),
                              static_cast<int32_t>(made.size()))));
  Error error;
  for (size_t i = 0; i < made.size(); ++i) {
    if (error.empty())
      error = copyToHost(context.get(), made[i]->dl_tensor, outputs[i].tensor);
    made[i]->deleter(made[i]);
  }
  return error;
}

Error Session::runOnce() {
  if (!onlyTensors)
    return runValues();
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

Error Session::runResident(const Arguments &arguments, double &ms) {
  if (!resident) {
    resident = std::make_unique<Resident>();
    RUN_TRY(
        resident->create(arguments.device.device_id, inputViews, outputViews));
  }
  return resident->run(context.get(), ms);
}

Error Session::profile(int64_t runs, std::string &trace) {
  const char *json;
  RUN_TRY(take(adze_profile_begin(context.get())));
  for (int64_t run = 0; run < runs; ++run)
    RUN_TRY(runOnce());
  RUN_TRY(take(adze_profile_end(context.get(), &json)));
  trace = json;
  return {};
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
    Error error =
        compare(outputs[want.output], want.value,
                [&](const Tensor &got, const Tensor &tensor) {
                  return compare(got, tensor, arguments.tolerance, summary);
                });
    summaries[want.output] = summary;
    if (!error.empty())
      errors += (errors.empty() ? "output '" : "\noutput '") +
                std::string(name) + "': " + error;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    report += "output '" + std::string(outputInfos[i]->name) +
              "': " + run::describe(outputs[i]);
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
    Bytes bytes;
    bool isPb = arguments.format != "npy";
    if (!isPb && outputs[i].kind != ADZE_TENSOR)
      return "output '" + std::string(outputInfos[i]->name) +
             "' is no tensor of numbers: use --format pb";
    RUN_TRY(isPb ? writeValueProto(outputs[i], outputInfos[i]->name, bytes)
                 : writeNpy(outputs[i].tensor, bytes));
    RUN_TRY(writeBytes(path, bytes));
  }
  return {};
}

} // namespace adze::run
