// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products by weights quantized by blocks, compiled for this machine and run,
// against f64: with the exact rows, and, if 8 bits are allowed, with the rows
// rounded to 8 bits.
#include "Pipeline/Compile.h"
#include "Verify/Differential.h"
#include "adze.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace adze;
using llvm::formatv;

namespace {

class BlockProductsTest : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("blocks", folder));
    rows = std::vector<int64_t>{1, 2, 5, 9}[below(4)];
    bits = 2 << below(3);
    block = 16 * (1 + below(4));
    blocks = 1 + below(5);
    depth = blocks * block - below(2) * below(int(block));
    columns = 1 + below(150);
    isRounded = below(2);
    hasZeros = below(2);
    isDynamic = below(2);
    for (int64_t i = 0; i < columns * blocks * block * bits / 8; ++i)
      packed.push_back(uint8_t(below(256)));
    for (int64_t i = 0; i < columns * blocks; ++i) {
      scales.push_back(float((1 + below(100)) / 999.0));
      zeros.push_back(uint8_t(hasZeros ? below(1 << bits) : 1 << (bits - 1)));
    }
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows * depth; ++i)
      x.push_back(normal(random));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  int below(int n) { return int(random() % unsigned(n)); }

  template <typename T>
  static std::string hex(const std::vector<T> &values) {
    std::string text = "\"0x";
    llvm::raw_string_ostream os(text);
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
      os << llvm::format_hex_no_prefix(
          reinterpret_cast<const uint8_t *>(values.data())[i], 2, true);
    return text + "\"";
  }

  std::string getSource() {
    auto type = [&](int64_t size) {
      return isDynamic ? formatv("tensor<?x{0}xf32, affine_map<()[s0] -> "
                                 "(s0, {0})>>",
                                 size)
                             .str()
                       : formatv("tensor<{0}x{1}xf32>", rows, size).str();
    };
    std::string p = formatv("tensor<{0}x{1}x{2}xui8>", columns, blocks,
                            block * bits / 8),
                s = formatv("tensor<{0}x{1}xf32>", columns, blocks),
                z = formatv("tensor<{0}x{1}xui8>", columns, blocks),
                w = formatv("tensor<{0}x{1}xf32>", columns, depth);
    std::string text =
        formatv("func.func @main(%x: {0} {{graph.name = \"x\"}) -> ({1} "
                "{{graph.name = \"y\"}){2} {{\n",
                type(depth), type(columns),
                isDynamic ? " attributes {graph.symbols = [\"m\"]}" : "");
    text += formatv("%p = graph.constant dense<{0}> : {1}\n", hex(packed), p);
    text += formatv("%s = graph.constant dense<{0}> : {1}\n", hex(scales), s);
    text += formatv("%z = graph.constant dense<{0}> : {1}\n", hex(zeros), z);
    text += formatv(
        "%w = graph.dequantize_blocks %p, %s{0} {{bits = {1} : i64, "
        "block = {2} : i64{3}} : ({4}, {5}{6}) -> {7}\n",
        hasZeros ? ", %z" : "", bits, block, isRounded ? ", int8_products" : "",
        p, s, hasZeros ? ", " + z : "", w);
    text += formatv("%m = graph.matmul %x, %w {{transpose_b = true} : ({0}, "
                    "{1}) -> {2}\n%y = graph.relu %m : ({2}) -> {2}\n"
                    "return %y : {2}\n}\n",
                    type(depth), w, type(columns));
    return text;
  }

  std::vector<float> run() {
    std::string stem = folder.str().str() + "/m";
    CompileOptions options;
    options.input = stem + ".mlir";
    options.output = stem + ".so";
    options.optLevel = 2;
    options.jobs = 1;
    {
      std::error_code code;
      llvm::raw_fd_ostream os(options.input, code);
      os << getSource();
    }
    std::string said;
    llvm::raw_string_ostream diagnostics(said);
    if (compile(options, diagnostics) != CompileStatus::Done) {
      ADD_FAILURE() << said << getSource();
      return {};
    }
    // A small number of elements does not show the range that errors are
    // relative to.
    constexpr int64_t enough = 32;
    if (columns >= enough)
      EXPECT_EQ(verifyDifferential(options, diagnostics), CompileStatus::Done)
          << said << getSource();
    adze_module *module = nullptr;
    adze_context *context = nullptr;
    EXPECT_EQ(adze_module_open(options.output.c_str(), nullptr, &module),
              nullptr);
    EXPECT_EQ(adze_context_create(module, {kDLCPU, 0}, &context), nullptr);
    std::vector<float> y(rows * columns);
    int64_t inShape[] = {rows, depth}, outShape[] = {rows, columns};
    auto describe = [](float *data, int64_t *shape) {
      DLTensor tensor = {};
      tensor.data = data;
      tensor.device = {kDLCPU, 0};
      tensor.ndim = 2;
      tensor.dtype = {kDLFloat, 32, 1};
      tensor.shape = shape;
      return tensor;
    };
    DLTensor in = describe(x.data(), inShape),
             out = describe(y.data(), outShape);
    const DLTensor *ins[] = {&in};
    DLTensor *outs[] = {&out};
    adze_status status = adze_run(context, ins, 1, outs, 1);
    EXPECT_EQ(status, nullptr) << adze_status_message(status);
    adze_status_free(status);
    adze_context_release(context);
    adze_module_release(module);
    return y;
  }

  double weight(int64_t n, int64_t k) const {
    int64_t parts = 8 / bits, b = k / block, at = k % block;
    uint8_t byte = packed[(n * blocks + b) * block / parts + at / parts];
    int q = byte >> (at % parts * bits) & ((1 << bits) - 1);
    return (q - zeros[n * blocks + b]) * double(scales[n * blocks + b]);
  }

  /// Returns an element of a row after the rounding of the product.
  double element(int64_t m, int64_t k) const {
    double value = x[m * depth + k];
    if (!isRounded)
      return value;
    float most = 0;
    for (int64_t i = k / block * block;
         i < std::min(depth, (k / block + 1) * block); ++i)
      most = std::max(most, std::fabs(x[m * depth + i]));
    return std::nearbyint(float(value) * (127 / most)) * (most / 127.0);
  }

  std::minstd_rand random{unsigned(7 * GetParam() + 1)};
  int64_t rows, bits, block, blocks, depth, columns;
  bool isRounded, hasZeros, isDynamic;
  std::vector<uint8_t> packed, zeros;
  std::vector<float> scales, x;
  llvm::SmallString<128> folder;
};

TEST_P(BlockProductsTest, AgreesWithF64) {
  std::vector<float> y = run();
  ASSERT_EQ(int64_t(y.size()), rows * columns);
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < depth; ++k) {
        double product = element(m, k) * weight(n, k);
        sum += product;
        size += std::fabs(product);
      }
      // Relative to the magnitude of the summands, as rounding errors are.
      EXPECT_NEAR(y[m * columns + n], std::max(sum, 0.0), 2e-6 * (size + 1))
          << "element " << m << ", " << n << " of\n"
          << getSource();
    }
}

INSTANTIATE_TEST_SUITE_P(Random, BlockProductsTest, ::testing::Range(0, 24));

} // namespace
