// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The compiler's C API: files and memory as input and output, errors, checks.
#include "CompilerTest.h"
#include "gmock/gmock.h"
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

using namespace adze::test;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

static const std::vector<float> kInput = {1, -1, 0.5f, -0.25f};

static std::vector<float> runAffine(const std::string &module) {
  return run(module, kInput, {2, 2}, {2, 2});
}

TEST(Compiler, Version) {
  EXPECT_THAT(adze_compiler_version(), HasSubstr("LLVM 22"));
}

TEST(Compiler, FromMemoryToMemory) {
  Options options;
  Result result;
  ASSERT_EQ(result.compileBytes(readFile(getModel("affine")), options),
            ADZE_COMPILE_OK)
      << result.message();
  EXPECT_EQ(adze_compiler_result_status(result.result), ADZE_COMPILE_OK);
  EXPECT_EQ(result.message(), "");
  EXPECT_THAT(runAffine(result.data()), ElementsAre(3, 0, 2, 0.5f));
}

TEST(Compiler, FromFileToFile) {
  std::string path = testing::TempDir() + "affine-file.so";
  Options options;
  ASSERT_EQ(adze_compile(getModel("affine").c_str(), path.c_str(),
                         options.options, nullptr),
            ADZE_COMPILE_OK);
  EXPECT_THAT(runAffine(readFile(path)), ElementsAre(3, 0, 2, 0.5f));
  fs::remove(path);
}

// No options.
TEST(Compiler, FromMemoryToFile) {
  std::string path = testing::TempDir() + "affine-memory.so";
  std::string model = readFile(getModel("affine"));
  ASSERT_EQ(adze_compile_memory(model.data(), model.size(), nullptr,
                                path.c_str(), nullptr, nullptr),
            ADZE_COMPILE_OK);
  EXPECT_THAT(runAffine(readFile(path)), ElementsAre(3, 0, 2, 0.5f));
  fs::remove(path);
}

/// Returns the numbers of an .npy file with f32 elements.
static std::vector<float> readNpy(const std::string &path) {
  std::string bytes = readFile(path);
  size_t begin = 10 + uint8_t(bytes[8]) + 256 * uint8_t(bytes[9]);
  std::vector<float> numbers((bytes.size() - begin) / sizeof(float));
  memcpy(numbers.data(), &bytes[begin], numbers.size() * sizeof(float));
  return numbers;
}

// Weights are mapped, not copied, from a file without a name.
TEST(Compiler, LargeConstantsInMemory) {
  const std::string folder = ADZE_DIGITS;
  std::vector<float> samples = readNpy(folder + "/samples.npy");
  std::vector<float> reference = readNpy(folder + "/reference.npy");
  Options options;
  Result result;
  ASSERT_EQ(result.compileBytes(readFile(folder + "/digits.onnx"), options,
                                "some/folder/digits.onnx"),
            ADZE_COMPILE_OK)
      << result.message();
  std::vector<float> classes =
      run(result.data(), samples, {300, 1, 8, 8}, {300, 10});
  ASSERT_EQ(classes.size(), reference.size());
  for (size_t i = 0; i < classes.size(); ++i)
    ASSERT_LE(std::fabs(classes[i] - reference[i]),
              1e-5f + 1e-3f * std::fabs(reference[i]))
        << i;
}

// Parts form one model; a part without data is zeros.
TEST(Compiler, ModelsInParts) {
  std::string model = readFile(std::string(ADZE_DIGITS) + "/digits.onnx");
  size_t middle = model.size() / 2, hole = 64; // among the weights
  const adze_model_part parts[] = {
      {model.data(), middle},
      {nullptr, hole},
      {model.data() + middle + hole, model.size() - middle - hole - 100},
      {model.data() + model.size() - 100, 100},
      {nullptr, 0}};
  Options options;
  Result whole, zeroed, pieces;
  ASSERT_EQ(whole.compileBytes(model, options), ADZE_COMPILE_OK);
  model.replace(middle, hole, hole, '\0');
  ASSERT_EQ(zeroed.compileBytes(model, options), ADZE_COMPILE_OK);
  ASSERT_EQ(adze_compile_parts(parts, 5, nullptr, nullptr, options.options,
                               &pieces.result),
            ADZE_COMPILE_OK)
      << pieces.message();
  EXPECT_EQ(pieces.data(), zeroed.data());
  EXPECT_NE(pieces.data(), whole.data());
  Result checked, none;
  EXPECT_EQ(adze_compiler_check_parts(parts, 5, "parts.onnx", options.options,
                                      &checked.result),
            ADZE_COMPILE_OK);
  EXPECT_THAT(checked.data(), HasSubstr("\"parts.onnx\""));
  EXPECT_EQ(
      adze_compile_parts(nullptr, 1, nullptr, nullptr, nullptr, &none.result),
      ADZE_COMPILE_USAGE);
  EXPECT_EQ(none.message(), "error: expected parts of a model, but got NULL\n");
}

// The same bytes as from a file with that name.
TEST(Compiler, MemoryAndFileAgree) {
  const std::string path = std::string(ADZE_DIGITS) + "/digits.onnx";
  Options options;
  Result memory, file;
  ASSERT_EQ(memory.compileBytes(readFile(path), options, path.c_str()),
            ADZE_COMPILE_OK);
  ASSERT_EQ(file.compile(path, options), ADZE_COMPILE_OK);
  EXPECT_EQ(memory.data(), file.data());
}

TEST(Compiler, CacheOfModelsInMemory) {
  fs::path cache = fs::path(testing::TempDir()) / "compiler-cache";
  fs::remove_all(cache);
  Options options;
  options.set("cache", cache.c_str());
  options.set("v", "true");
  std::string model = readFile(std::string(ADZE_DIGITS) + "/digits.onnx");
  Result first, second;
  ASSERT_EQ(first.compileBytes(model, options), ADZE_COMPILE_OK);
  for (const Told &told : options.told)
    EXPECT_THAT(told.message, testing::Not(HasSubstr("taken from the cache")));
  options.told.clear();
  ASSERT_EQ(second.compileBytes(model, options), ADZE_COMPILE_OK);
  ASSERT_EQ(options.told.size(), 1u);
  EXPECT_EQ(options.told[0].severity, ADZE_COMPILE_REMARK);
  EXPECT_THAT(options.told[0].message, HasSubstr("taken from the cache"));
  EXPECT_EQ(first.data(), second.data());
  fs::remove_all(cache);
}

// A fixed dim is part of the signature of the module.
TEST(Compiler, OptionsMatter) {
  Options options;
  ASSERT_EQ(options.set("dim", "N=3"), ADZE_COMPILE_OK);
  ASSERT_EQ(options.set("O", "1"), ADZE_COMPILE_OK);
  Result result;
  ASSERT_EQ(result.compile(getModel("affine"), options), ADZE_COMPILE_OK);
  adze_module *module = nullptr;
  std::string data = result.data();
  ASSERT_EQ(adze_module_open_memory(data.data(), data.size(), nullptr, &module),
            nullptr);
  const adze_value_info *info = nullptr;
  ASSERT_EQ(adze_module_input(module, 0, &info), nullptr);
  EXPECT_EQ(info->dims[0], 3);
  adze_module_release(module);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Compiler, RefusedNode) {
  Options options;
  Result result;
  EXPECT_EQ(result.compile(getModel("refused"), options),
            ADZE_COMPILE_UNSUPPORTED);
  EXPECT_EQ(adze_compiler_result_status(result.result),
            ADZE_COMPILE_UNSUPPORTED);
  ASSERT_EQ(options.told.size(), 2u);
  const Told &told = options.told[0], &summary = options.told[1];
  EXPECT_EQ(told.severity, ADZE_COMPILE_ERROR);
  EXPECT_EQ(told.file, getModel("refused"));
  EXPECT_EQ(told.node, "second");
  EXPECT_EQ(told.op, "com.example.Blur-1");
  EXPECT_THAT(told.message, testing::StartsWith(
                                "expected an operator of ai.onnx, but got the "
                                "custom operator 'Blur'"));
  EXPECT_EQ(told.formatted,
            "error: " + told.file +
                ": node 'second' (com.example.Blur-1): " + told.message);
  EXPECT_EQ(summary.severity, ADZE_COMPILE_NOTE);
  EXPECT_EQ(summary.node, "");
  EXPECT_EQ(summary.file, told.file);
  EXPECT_THAT(summary.message,
              testing::StartsWith("1 node cannot be imported; "));
  EXPECT_EQ(summary.formatted,
            "note: " + summary.file + ": " + summary.message);
  EXPECT_EQ(result.message(), told.formatted + "\n");
  size_t size = 1;
  EXPECT_EQ(adze_compiler_result_data(result.result, &size), nullptr);
  EXPECT_EQ(size, 0u);
}

TEST(Compiler, WarningsNameTheirNodes) {
  Options options;
  Result result;
  EXPECT_EQ(result.compile(getModel("warned"), options), ADZE_COMPILE_OK);
  EXPECT_EQ(result.message(), "");
  ASSERT_EQ(options.told.size(), 2u);
  const char *nodes[] = {"squeezed", "last"},
             *ops[] = {"ai.onnx.Squeeze-13", "ai.onnx.Relu-13"},
             *texts[] = {"there are no axes", "output 'y' is declared as i64"};
  for (size_t i : {0, 1}) {
    const Told &told = options.told[i];
    EXPECT_EQ(told.severity, ADZE_COMPILE_WARNING);
    EXPECT_EQ(told.file, getModel("warned"));
    EXPECT_EQ(told.node, nodes[i]);
    EXPECT_EQ(told.op, ops[i]);
    EXPECT_THAT(told.message, testing::StartsWith(texts[i]));
    EXPECT_EQ(told.formatted, "warning: " + told.file + ": node '" + told.node +
                                  "' (" + told.op + "): " + told.message);
  }
  Options quiet;
  Result quietly;
  EXPECT_EQ(quiet.set("q", "true"), ADZE_COMPILE_OK);
  EXPECT_EQ(quietly.compile(getModel("warned"), quiet), ADZE_COMPILE_OK);
  EXPECT_TRUE(quiet.told.empty());
}

TEST(Compiler, RefusedNodeLeavesNoFile) {
  std::string path = testing::TempDir() + "refused.so";
  EXPECT_EQ(
      adze_compile(getModel("refused").c_str(), path.c_str(), nullptr, nullptr),
      ADZE_COMPILE_UNSUPPORTED);
  EXPECT_FALSE(fs::exists(path));
}

TEST(Compiler, InputErrors) {
  Options options;
  Result missing, damaged, folder;
  EXPECT_EQ(missing.compile("nothing.onnx", options), ADZE_COMPILE_INPUT_ERROR);
  EXPECT_THAT(missing.message(), HasSubstr("error: nothing.onnx: "));
  EXPECT_EQ(damaged.compileBytes("no model", options, "said.onnx"),
            ADZE_COMPILE_INPUT_ERROR);
  EXPECT_THAT(damaged.message(), HasSubstr("error: said.onnx: "));
  options.told.clear();
  EXPECT_EQ(adze_compile(getModel("affine").c_str(), "no/such/folder/m.so",
                         options.options, &folder.result),
            ADZE_COMPILE_INPUT_ERROR);
  ASSERT_EQ(options.told.size(), 1u);
  EXPECT_EQ(options.told[0].file, "no/such/folder/m.so");
  EXPECT_EQ(folder.message(),
            "error: no/such/folder/m.so: No such file or directory\n");
}

TEST(Compiler, OptionErrors) {
  Options options;
  EXPECT_EQ(options.set("no-such-option", "1"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.message(), "unknown option 'no-such-option'");
  EXPECT_EQ(options.set("tune", "sometimes"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.message(),
            "expected --tune=off, model or measure, but got 'sometimes'");
  EXPECT_EQ(options.set("O", "4"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.set("j", "many"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.set("stats", "perhaps"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.set("weights-precision", "int8:24"), ADZE_COMPILE_USAGE);
  EXPECT_THAT(options.message(), HasSubstr("--weights-precision=f32, int8"));
  EXPECT_EQ(options.set("plugin", "a.so"), ADZE_COMPILE_USAGE);
  EXPECT_EQ(options.message(), "option 'plugin' is for the command line only");
  EXPECT_EQ(options.set("dim", nullptr), ADZE_COMPILE_USAGE);
  EXPECT_EQ(adze_compiler_options_set(nullptr, "O", "1"), ADZE_COMPILE_USAGE);
  for (auto [key, value] : {std::pair{"dim", "N"},
                            {"dim", "N=x"},
                            {"shape", "x=1xq"},
                            {"state", "x"},
                            {"target", "cuda:sm_12"},
                            {"mcache", "1M"},
                            {"report", "report.txt"},
                            {"precision", "f9"},
                            {"max-error", "2"},
                            {"max-compile-seconds", "x"}}) {
    EXPECT_EQ(options.set(key, value), ADZE_COMPILE_USAGE) << key;
    EXPECT_THAT(options.message(), HasSubstr("expected ")) << key;
    EXPECT_THAT(options.message(), HasSubstr(value)) << key;
  }
  // An invalid value has no effect, also on requirements of other options.
  EXPECT_EQ(options.set("O", "2"), ADZE_COMPILE_OK);
  EXPECT_EQ(options.message(), "");
  Result result;
  EXPECT_EQ(result.compile(getModel("affine"), options), ADZE_COMPILE_OK);
}

TEST(Compiler, UsageErrors) {
  struct Case {
    const char *key, *value, *message;
    adze_compile_status status;
  };
  for (const Case &c :
       {Case{"emit", "ptx", "--emit=ptx needs", ADZE_COMPILE_USAGE},
        Case{"emit", "graph", "need a model and an output in files",
             ADZE_COMPILE_USAGE},
        Case{"weights", "file", "needs an output file", ADZE_COMPILE_USAGE},
        Case{"max-compile-seconds", "1", "needs --tune=model or",
             ADZE_COMPILE_USAGE},
        Case{"mcpu", "z80", "unknown CPU 'z80'", ADZE_COMPILE_USAGE}}) {
    Options options;
    Result result;
    ASSERT_EQ(options.set(c.key, c.value), ADZE_COMPILE_OK);
    EXPECT_EQ(result.compile(getModel("affine"), options), c.status) << c.key;
    EXPECT_THAT(result.message(), HasSubstr(c.message));
    ASSERT_FALSE(options.told.empty());
  }
  Options rounded;
  Result refused;
  ASSERT_EQ(rounded.set("mcpu", "x86-64-v3"), ADZE_COMPILE_OK);
  ASSERT_EQ(rounded.set("precision", "f16"), ADZE_COMPILE_OK);
  EXPECT_EQ(refused.compile(getModel("affine"), rounded),
            ADZE_COMPILE_UNSUPPORTED);
  EXPECT_THAT(refused.message(), HasSubstr("unsupported: --precision=f16"));
  EXPECT_EQ(adze_compile(getModel("affine").c_str(), nullptr, nullptr, nullptr),
            ADZE_COMPILE_USAGE);
  EXPECT_EQ(adze_compile(nullptr, "m.so", nullptr, nullptr),
            ADZE_COMPILE_USAGE);
  EXPECT_EQ(adze_compile_memory(nullptr, 8, nullptr, "m.so", nullptr, nullptr),
            ADZE_COMPILE_USAGE);
}

TEST(Compiler, ListsItsOptions) {
  std::string list = adze_compiler_options_list();
  EXPECT_THAT(list, HasSubstr("{\"name\":\"dim\",\"kind\":\"repeated\","));
  EXPECT_THAT(list, HasSubstr("{\"name\":\"weights-precision\","));
  EXPECT_THAT(list, testing::Not(HasSubstr("plugin")));
  EXPECT_THAT(list, testing::Not(HasSubstr("inject")));
}

static std::set<std::string> findAll(const std::string &text,
                                     const char *pattern) {
  std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end;
       ++at)
    found.insert((*at)[1]);
  return found;
}

TEST(Compiler, HeaderNamesAllOptions) {
  std::ifstream file(ADZE_COMPILER_HEADER);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  size_t begin = text.find("Keys are the flags"),
         end = text.find("The value of a switch", begin);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(findAll(text.substr(begin, end - begin), "\"([A-Za-z-]+)\""),
            findAll(adze_compiler_options_list(), "\"name\":\"([^\"]+)\""));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

TEST(Compiler, Check) {
  Options options;
  Result good, bad;
  EXPECT_EQ(adze_compiler_check(getModel("affine").c_str(), options.options,
                                &good.result),
            ADZE_COMPILE_OK);
  EXPECT_THAT(good.data(), HasSubstr("\"compiles\": true"));
  std::string model = readFile(getModel("refused"));
  EXPECT_EQ(adze_compiler_check_memory(model.data(), model.size(), "r.onnx",
                                       options.options, &bad.result),
            ADZE_COMPILE_INPUT_ERROR);
  std::string json = bad.data();
  for (const char *part :
       {"\"model\": \"r.onnx\"", "\"compiles\": false", "\"node\": \"second\"",
        "\"index\": 1", "\"op\": \"com.example.Blur-1\"",
        "\"kind\": \"unsupported\"", "\"reason\": \"expected an operator"})
    EXPECT_THAT(json, HasSubstr(part));
  EXPECT_TRUE(options.told.empty());
}

//===----------------------------------------------------------------------===//
// Effects on the process
//===----------------------------------------------------------------------===//

TEST(Compiler, LeavesSignalsToTheProgram) {
  Options options;
  Result result;
  ASSERT_EQ(result.compile(getModel("affine"), options), ADZE_COMPILE_OK);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGABRT}) {
    struct sigaction action;
    ASSERT_EQ(sigaction(signal, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << signal;
  }
}
