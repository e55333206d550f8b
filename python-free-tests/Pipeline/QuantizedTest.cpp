// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Quantized layers, compiled for this machine and run, against ONNX's
// definitions computed in f64: equal if all numbers are exact in f32, else
// within one step of the output's scale.
#include "Pipeline/Compile.h"
#include "Verify/Differential.h"
#include "adze.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace adze;
using llvm::formatv;

namespace {

/// A tensor of 8-bit integers that represent (q - zero) * scale.
struct Quantized {
  std::vector<int64_t> dims;
  std::vector<int> q;
  int zero = 0;
  double scale = 1;
  bool isSigned = false;

  std::string type() const {
    std::string text = "tensor<";
    for (int64_t dim : dims)
      text += std::to_string(dim) + "x";
    return text + (isSigned ? "i8>" : "ui8>");
  }
  std::string floats() const {
    std::string text = type();
    return text.substr(0, text.rfind('x') + 1) + "f32>";
  }
  double at(size_t i) const { return (q[i] - zero) * scale; }
};

class QuantizedTest : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("quantized", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  int below(int n) { return int(random() % unsigned(n)); }

  /// Random numbers; the zero point of a weight is in the middle.
  Quantized make(std::vector<int64_t> dims, bool isWeight) {
    Quantized x;
    x.dims = std::move(dims);
    int64_t count = 1;
    for (int64_t dim : x.dims)
      count *= dim;
    x.isSigned = isWeight ? below(4) != 0 : below(2) == 0;
    int least = x.isSigned ? -128 : 0;
    x.zero = isWeight ? least + 128 : below(3) ? least + below(256) : 0;
    x.scale = isExact ? std::ldexp(1, -below(6)) : (1 + below(100)) / 777.0f;
    for (int64_t i = 0; i < count; ++i)
      x.q.push_back(least + below(256));
    return x;
  }

  /// Returns text that dequantizes `from`, and the name of the result.
  std::string dequantize(const Quantized &x, const std::string &from,
                         const std::string &to, const std::string &scale = "") {
    text += formatv("%{0}c = graph.cast {1} : ({2}) -> {3}\n", to, from,
                    x.type(), x.floats());
    text += formatv("%{0}z = graph.constant dense<{1:f1}> : tensor<f32>\n", to,
                    double(x.zero));
    text +=
        formatv("%{0}d = graph.sub %{0}c, %{0}z : ({1}, tensor<f32>) -> {1}\n",
                to, x.floats());
    if (scale.empty())
      text += formatv("%{0}s = graph.constant dense<{1}> : tensor<f32>\n", to,
                      number(x.scale));
    std::string type = scale.empty() ? "tensor<f32>" : scale;
    text += formatv("%{0} = graph.mul %{0}d, %{0}s : ({1}, {2}) -> {1}\n", to,
                    x.floats(), type);
    return "%" + to;
  }

  static std::string number(double value) {
    char digits[64];
    snprintf(digits, sizeof(digits), "%.9e", value);
    return digits;
  }

  /// Quantizes the value with the parameters of `x`; returns the name.
  std::string quantize(const Quantized &x, const std::string &from) {
    double least = x.isSigned ? -128 : 0;
    std::string f = x.floats(), unary = "(" + f + ") -> " + f,
                binary = "(" + f + ", tensor<f32>) -> " + f;
    for (auto [name, value] :
         {std::pair("qs", x.scale), std::pair("qz", double(x.zero)),
          std::pair("ql", least), std::pair("qh", least + 255)})
      text += formatv("%{0} = graph.constant dense<{1}> : tensor<f32>\n", name,
                      number(value));
    text += formatv("%q0 = graph.div {0}, %qs : {1}\n", from, binary);
    text += formatv("%q1 = graph.round %q0 : {0}\n", unary);
    text += formatv("%q2 = graph.add %q1, %qz : {0}\n", binary);
    text += formatv("%q3 = graph.maximum %q2, %ql : {0}\n", binary);
    text += formatv("%q4 = graph.minimum %q3, %qh : {0}\n", binary);
    text += formatv("%q = graph.cast %q4 : ({0}) -> {1}\n", f, x.type());
    return "%q";
  }

  /// A weight as a constant, with a scale for each of its outputs along `axis`.
  std::vector<double> addWeight(const Quantized &w, int64_t axis) {
    std::string list;
    std::vector<double> scales;
    for (int64_t i = 0; i < w.dims[axis]; ++i) {
      scales.push_back(isExact ? std::ldexp(1, -below(4))
                               : float((1 + below(100)) / 999.0f));
      list += (i ? ", " : "") + number(scales.back());
    }
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    for (int q : w.q)
      os << llvm::format_hex_no_prefix(uint8_t(q), 2, /*Upper=*/true);
    text += formatv("%w = graph.constant dense<\"0x{0}\"> : {1}\n", bytes,
                    w.type());
    std::string shape = "tensor<", close;
    for (size_t i = 0; i < w.dims.size(); ++i)
      shape += (int64_t(i) == axis ? std::to_string(w.dims[axis]) : "1") + "x";
    shape += "f32>";
    text += formatv("%wfv = graph.constant dense<[{0}]> : tensor<{1}xf32>\n",
                    list, w.dims[axis]);
    text += formatv("%wfs = graph.reshape %wfv : (tensor<{0}xf32>) -> {1}\n",
                    w.dims[axis], shape);
    dequantize(w, "%w", "wf", shape);
    return scales;
  }

  /// Compiles main(x[, r]) with the body `text`, runs it, and returns the bytes
  /// of its result.
  std::vector<int> run(std::vector<const Quantized *> inputs,
                       const Quantized &y) {
    std::string arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments += formatv("{0}%a{1}: {2} {{graph.name = \"a{1}\"}",
                           i ? ", " : "", i, inputs[i]->type());
    std::string source =
        formatv("func.func @main({0}) -> ({1} {{graph.name = \"y\"}) {{\n{2}"
                "return %q : {1}\n}\n",
                arguments, y.type(), text);
    std::string stem = folder.str().str() + "/m";
    CompileOptions options;
    options.input = stem + ".mlir";
    options.output = stem + ".so";
    options.optLevel = 2;
    options.jobs = 1;
    {
      std::error_code code;
      llvm::raw_fd_ostream os(options.input, code);
      os << source;
    }
    std::string said;
    llvm::raw_string_ostream diagnostics(said);
    if (compile(options, diagnostics) != CompileStatus::Done) {
      ADD_FAILURE() << said << source;
      return {};
    }
    EXPECT_EQ(verifyDifferential(options, diagnostics), CompileStatus::Done)
        << said << source;
    adze_module *module = nullptr;
    adze_context *context = nullptr;
    EXPECT_EQ(adze_module_open(options.output.c_str(), nullptr, &module),
              nullptr);
    EXPECT_EQ(adze_context_create(module, {kDLCPU, 0}, &context), nullptr);
    std::vector<std::vector<int8_t>> memory;
    std::vector<DLTensor> tensors;
    auto add = [&](const Quantized &x) {
      memory.emplace_back(x.q.begin(), x.q.end());
      DLTensor tensor = {};
      tensor.data = memory.back().data();
      tensor.device = {kDLCPU, 0};
      tensor.ndim = int32_t(x.dims.size());
      tensor.dtype = {uint8_t(x.isSigned ? kDLInt : kDLUInt), 8, 1};
      tensor.shape = const_cast<int64_t *>(x.dims.data());
      tensors.push_back(tensor);
    };
    memory.reserve(inputs.size() + 1);
    for (const Quantized *x : inputs)
      add(*x);
    add(y);
    std::vector<const DLTensor *> ins;
    for (size_t i = 0; i < inputs.size(); ++i)
      ins.push_back(&tensors[i]);
    DLTensor *outs[] = {&tensors.back()};
    adze_status status =
        adze_run(context, ins.data(), int32_t(ins.size()), outs, 1);
    EXPECT_EQ(status, nullptr) << adze_status_message(status);
    adze_status_free(status);
    adze_context_release(context);
    adze_module_release(module);
    std::vector<int> result;
    for (int8_t byte : memory.back())
      result.push_back(y.isSigned ? int(byte) : int(uint8_t(byte)));
    return result;
  }

  /// Compares the result with the numbers that it represents by y's parameters.
  void expect(const std::vector<int> &got, const Quantized &y,
              const std::vector<double> &want) {
    ASSERT_EQ(got.size(), want.size());
    int least = y.isSigned ? -128 : 0, off = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      double q = std::nearbyint(want[i] / y.scale) + y.zero;
      int expected = int(std::min(std::max(q, double(least)), least + 255.0));
      ASSERT_LE(std::abs(got[i] - expected), isExact ? 0 : 1)
          << "element " << i << ": expected " << expected << "\n"
          << text;
      off += got[i] != expected;
    }
    EXPECT_LE(off, 1 + int64_t(want.size()) / 100);
  }

  double activate(double x, int kind) {
    return kind == 0   ? x
           : kind == 1 ? std::max(x, 0.0)
                       : std::min(std::max(x, 0.0), 6.0);
  }
  /// Adds the activation to the text; returns the name of its result.
  std::string activate(const Quantized &y, const std::string &from, int kind) {
    std::string f = y.floats();
    if (kind == 0)
      return from;
    if (kind == 1) {
      text += formatv("%act = graph.relu {0} : ({1}) -> {1}\n", from, f);
      return "%act";
    }
    text += "%a0c = graph.constant dense<0.0> : tensor<f32>\n"
            "%a6c = graph.constant dense<6.0> : tensor<f32>\n";
    text += formatv(
        "%actl = graph.maximum {0}, %a0c : ({1}, tensor<f32>) -> {1}\n"
        "%act = graph.minimum %actl, %a6c : ({1}, tensor<f32>) -> {1}\n",
        from, f);
    return "%act";
  }

  std::minstd_rand random{unsigned(GetParam() + 1)};
  bool isExact = GetParam() % 2 == 0;
  std::string text;
  llvm::SmallString<128> folder;
};

TEST_P(QuantizedTest, Matmul) {
  int64_t rows = 1 + below(9), depth = 4 * (1 + below(12)),
          columns = 1 + below(40);
  Quantized x = make({rows, depth}, false), w = make({depth, columns}, true),
            y = make({rows, columns}, false);
  y.scale *= 64;
  dequantize(x, "%a0", "x");
  std::vector<double> scales = addWeight(w, 1);
  text += formatv("%p = graph.matmul %x, %wf : ({0}, {1}) -> {2}\n", x.floats(),
                  w.floats(), y.floats());
  int kind = below(3);
  quantize(y, activate(y, "%p", kind));
  std::vector<double> want;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            x.at(i * depth + k) * ((w.q[k * columns + j] - w.zero) * scales[j]);
      want.push_back(activate(sum, kind));
    }
  expect(run({&x}, y), y, want);
}

/// A convolution, and a tensor that is added to it, with quantization in
/// between.
TEST_P(QuantizedTest, ConvolutionAndSum) {
  bool isDepthwise = below(3) == 0;
  int64_t channels = 1 + below(9), size = 3 + below(9),
          outputs = isDepthwise ? channels : 1 + below(20),
          groups = isDepthwise ? channels : 1, depth = channels / groups,
          kernel = 1 + 2 * below(2), stride = 1 + below(2),
          pad = below(2) * (kernel / 2),
          out = (size + 2 * pad - kernel) / stride + 1;
  Quantized x = make({1, channels, size, size}, false),
            w = make({outputs, depth, kernel, kernel}, true),
            r = make({1, outputs, out, out}, false), y = r;
  y.scale = r.scale * (isExact ? 2 : 1.37);
  dequantize(x, "%a0", "x");
  std::vector<double> scales = addWeight(w, 0);
  text += formatv(
      "%p = graph.conv %x, %wf {{strides = array<i64: {0}, {0}>, pads = "
      "array<i64: {1}, {1}, {1}, {1}>, dilations = array<i64: 1, 1>, group = "
      "{5} : i64} : ({2}, "
      "{3}) -> {4}\n",
      stride, pad, x.floats(), w.floats(), y.floats(), groups);
  dequantize(r, "%a1", "r");
  text += formatv("%sum = graph.add %p, %r : ({0}, {0}) -> {0}\n", y.floats());
  int kind = below(3);
  quantize(y, activate(y, "%sum", kind));
  std::vector<double> want;
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < out; ++i)
      for (int64_t j = 0; j < out; ++j) {
        double sum = 0;
        for (int64_t c = 0; c < depth; ++c)
          for (int64_t u = 0; u < kernel; ++u)
            for (int64_t v = 0; v < kernel; ++v) {
              int64_t a = i * stride + u - pad, b = j * stride + v - pad;
              if (a < 0 || b < 0 || a >= size || b >= size)
                continue;
              sum +=
                  x.at(((isDepthwise ? o : c) * size + a) * size + b) *
                  ((w.q[((o * depth + c) * kernel + u) * kernel + v] - w.zero) *
                   scales[o]);
            }
        want.push_back(activate(sum + r.at((o * out + i) * out + j), kind));
      }
  expect(run({&x, &r}, y), y, want);
}

INSTANTIATE_TEST_SUITE_P(Random, QuantizedTest, ::testing::Range(0, 24));

} // namespace
