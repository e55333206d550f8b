// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the conformance runner: it detects faults, survives crashes and
// hangs, and selects the same cases each time.
#include "../Import/ONNX/ProtoBytes.h"
#include "Report.h"
#include "Workers.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace conformance;
using namespace protobytes;

namespace {

Tensor makeTensor(std::vector<int64_t> dims, const std::vector<float> &data) {
  Tensor tensor;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.dims = std::move(dims);
  tensor.resize();
  std::memcpy(tensor.bytes.data(), data.data(), tensor.bytes.size());
  return tensor;
}

/// Returns irregular numbers of both signs.
std::vector<float> makeNumbers(size_t count) {
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(static_cast<int>(i * 37 % 101) - 50) /
                      25);
  return numbers;
}

std::string floats(const std::string &name, const std::string &dims,
                   const std::vector<float> &data) {
  std::string out;
  for (char dim : dims)
    out += number(1, static_cast<uint64_t>(dim));
  return out + number(2, 1) + field(8, name) +
         field(9, std::string(reinterpret_cast<const char *>(data.data()),
                              data.size() * sizeof(float)));
}

std::string model(const std::string &graph) {
  return number(1, 8) + field(8, field(1, "") + number(2, 17)) +
         field(7, graph + field(2, "g"));
}

class Conformance : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(makeFolder(root), ""); }
  void TearDown() override { llvm::sys::fs::remove_directories(root); }

  void write(const std::string &path, const std::string &bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
    ASSERT_FALSE(code) << path;
  }
  void write(const std::string &path, const Tensor &tensor) {
    adze::run::Bytes bytes;
    ASSERT_EQ(adze::run::writeTensorProto(tensor, "", bytes), "");
    write(path, std::string(bytes.begin(), bytes.end()));
  }
  void addCase(const std::string &name, const std::string &model,
               const Tensor &input, const Tensor &output,
               const std::string &set = "node") {
    std::string data = root + "/" + set + "/" + name + "/test_data_set_0";
    ASSERT_FALSE(llvm::sys::fs::create_directories(data));
    write(root + "/" + set + "/" + name + "/model.onnx", model);
    write(data + "/input_0.pb", input);
    write(data + "/output_0.pb", output);
  }
  /// Returns the result of the case at -O0, -O2 and with dynamic dims, which
  /// must agree.
  Outcome run(const std::string &name) {
    std::vector<Case> cases;
    EXPECT_EQ(findCases(root, {"/" + name, 0, 1}, cases), "");
    Outcome first;
    for (const Column &column :
         {Column{"O0", 0, false, "", 1}, Column{"O2", 2, false, "", 1},
          Column{"dyn", 2, true, "", 1}}) {
      Outcome outcome = Executor(column).run(cases.at(0), root);
      if (column.name != "O0") {
        EXPECT_EQ(outcome.status, first.status) << outcome.message;
      }
      first = outcome;
    }
    return first;
  }

  std::string root;
};

//===----------------------------------------------------------------------===//
// Seeded faults
//===----------------------------------------------------------------------===//

/// A case of x (2 x 64) times w (64 x 3), and its output.
struct Product {
  std::vector<float> x = makeNumbers(2 * 64), w = makeNumbers(64 * 3);

  std::string makeModel() const {
    return model(
        node("MatMul", {"x", "w"}, "y") + field(5, floats("w", "\x40\3", w)) +
        field(11, value("x", "\2\x40")) + field(12, value("y", "\2\3")));
  }
  Tensor input() const { return makeTensor({2, 64}, x); }
  Tensor output() const {
    std::vector<float> y;
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (size_t k = 0; k < 64; ++k)
          sum += double(x[i * 64 + k]) * double(w[k * 3 + j]);
        y.push_back(static_cast<float>(sum));
      }
    return makeTensor({2, 3}, y);
  }
};

TEST_F(Conformance, RightSumPasses) {
  Product product;
  addCase("sum", product.makeModel(), product.input(), product.output());
  Outcome outcome = run("sum");
  EXPECT_EQ(outcome.status, Status::Passed) << outcome.message;
}

TEST_F(Conformance, DroppedTermOfASumIsCaught) {
  Product right, wrong;
  wrong.w[20 * 3 + 1] = 0;
  ASSERT_NE(right.w, wrong.w);
  addCase("sum", wrong.makeModel(), right.input(), right.output());
  Outcome outcome = run("sum");
  EXPECT_EQ(outcome.status, Status::Failed);
  EXPECT_NE(outcome.message.find("2 of 6 elements differ"), std::string::npos)
      << outcome.message;
}

/// A transpose of 3 x 4 x 4; axes 1 and 2 have the same size.
std::string makeTranspose(const std::string &perm) {
  std::string content;
  for (char axis : perm)
    content += number(8, static_cast<uint64_t>(axis));
  return model(node("Transpose", {"x"}, "y", attribute("perm", content, 7)) +
               field(11, value("x", "\3\4\4")) +
               field(12, value("y", "\4\4\3")));
}

Tensor transposed(const std::vector<float> &x) {
  std::vector<float> y;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      for (size_t k = 0; k < 3; ++k)
        y.push_back(x[k * 16 + i * 4 + j]);
  return makeTensor({4, 4, 3}, y);
}

TEST_F(Conformance, RightAxesPass) {
  std::vector<float> x = makeNumbers(48);
  addCase("axes", makeTranspose(std::string("\1\2\0", 3)),
          makeTensor({3, 4, 4}, x), transposed(x));
  Outcome outcome = run("axes");
  EXPECT_EQ(outcome.status, Status::Passed) << outcome.message;
}

TEST_F(Conformance, SwappedAxisIsCaught) {
  std::vector<float> x = makeNumbers(48);
  addCase("axes", makeTranspose(std::string("\2\1\0", 3)),
          makeTensor({3, 4, 4}, x), transposed(x));
  EXPECT_EQ(run("axes").status, Status::Failed);
}

TEST_F(Conformance, OtherShapeOrTypeIsCaught) {
  std::vector<float> x = makeNumbers(48);
  Tensor output = transposed(x);
  output.dims = {16, 3};
  addCase("axes", makeTranspose(std::string("\1\2\0", 3)),
          makeTensor({3, 4, 4}, x), output);
  EXPECT_EQ(run("axes").status, Status::Failed);
  output.dims = {4, 4, 3};
  output.dtype = {kDLInt, 32, 1};
  addCase("type", makeTranspose(std::string("\1\2\0", 3)),
          makeTensor({3, 4, 4}, x), output);
  EXPECT_EQ(run("type").status, Status::Failed);
}

/// Two dynamic shapes: a run broadcasts them if possible, or is an error.
TEST_F(Conformance, UnknownShapesBroadcastOrAreRefused) {
  std::vector<float> x = makeNumbers(12), y = makeNumbers(4), sum;
  for (size_t i = 0; i < 12; ++i)
    sum.push_back(x[i] + y[i % 4]);
  std::string add =
      model(node("Add", {"x", "y"}, "z") + field(11, value("x", "\3\4")) +
            field(11, value("y", "\1\4")) + field(12, value("z", "\3\4")));
  auto run = [&](const std::string &name, const Tensor &second) {
    addCase(name, add, makeTensor({3, 4}, x), makeTensor({3, 4}, sum));
    write(root + "/node/" + name + "/test_data_set_0/input_1.pb", second);
    std::vector<Case> cases;
    EXPECT_EQ(findCases(root, {"/" + name, 0, 1}, cases), "");
    return Executor({"dyn", 2, true, "", 1}).run(cases.at(0), root);
  };
  EXPECT_EQ(run("right", makeTensor({1, 4}, y)).message, "");
  std::string message =
      run("wrong", makeTensor({2, 4}, makeNumbers(8))).message;
  EXPECT_NE(message.find("shapes do not agree"), std::string::npos) << message;
}

TEST_F(Conformance, UnsupportedIsSkippedWithAReason) {
  addCase("unknown",
          model(node("Whatever", {"x"}, "y") + field(11, value("x", "\4")) +
                field(12, value("y", "\4"))),
          makeTensor({4}, makeNumbers(4)), makeTensor({4}, makeNumbers(4)));
  Outcome outcome = run("unknown");
  EXPECT_NE(outcome.status, Status::Passed);
  EXPECT_NE(outcome.message.find("Whatever"), std::string::npos)
      << outcome.message;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value makeValue(adze_kind kind, std::vector<Value> elements) {
  Value value;
  value.kind = kind;
  value.elements = std::move(elements);
  return value;
}

TEST(ConformanceValues, DifferencesAreTold) {
  Value one, two, strings;
  one.tensor = makeTensor({1}, {1});
  two.tensor = makeTensor({1}, {1.01f});
  strings.kind = ADZE_STRINGS;
  strings.strings = {"a"};
  Value other = strings;
  other.strings = {"b"};
  EXPECT_NE(compare(two, one), "");
  EXPECT_NE(compare(other, strings), "");
  EXPECT_NE(compare(strings, one), "");
  EXPECT_NE(compare(makeValue(ADZE_SEQUENCE, {one, two}),
                    makeValue(ADZE_SEQUENCE, {one, one})),
            "");
  EXPECT_NE(compare(makeValue(ADZE_SEQUENCE, {one}),
                    makeValue(ADZE_SEQUENCE, {one, one})),
            "");
  EXPECT_NE(
      compare(makeValue(ADZE_OPTIONAL, {}), makeValue(ADZE_OPTIONAL, {one})),
      "");
}

//===----------------------------------------------------------------------===//
// Processes and selection
//===----------------------------------------------------------------------===//

TEST(ConformanceWorkers, CrashesAndHangsFailOneCaseEach) {
  auto task = [](size_t index, const std::string &) -> Outcome {
    switch (index) {
    case 1:
      raise(SIGSEGV);
      break;
    case 2:
      for (volatile int forever = 1; forever;)
        ;
      break;
    case 3:
      _exit(0);
    case 4:
      return {Status::Skipped, "no such thing", 0, 0};
    case 5:
      return {Status::Failed, "wrong", 1, 2};
    case 6:
      abort();
    }
    return {Status::Passed, "", 3, 4};
  };
  std::vector<Outcome> outcomes(8);
  std::vector<int> calls(8);
  EXPECT_EQ(forEach(
                8, [](size_t) { return 1; }, 3, task,
                [&](size_t index, const Outcome &outcome) {
                  outcomes[index] = outcome;
                  ++calls[index];
                }),
            "");
  EXPECT_EQ(calls, std::vector<int>(8, 1));
  for (size_t index : {0, 7})
    EXPECT_EQ(outcomes[index].status, Status::Passed);
  for (size_t index : {1, 2, 3, 5, 6})
    EXPECT_EQ(outcomes[index].status, Status::Failed);
  EXPECT_EQ(outcomes[4].status, Status::Skipped);
  EXPECT_EQ(outcomes[4].message, "no such thing");
  EXPECT_EQ(outcomes[5].message, "wrong");
  EXPECT_EQ(outcomes[0].runMs, 4);
  EXPECT_NE(outcomes[1].message.find("crashed"), std::string::npos);
  EXPECT_NE(outcomes[2].message.find("did not end in 1 s"), std::string::npos);
  EXPECT_NE(outcomes[3].message.find("status 0"), std::string::npos);
}

TEST(ConformanceWorkers, TasksShareAProcess) {
  // Each prints its number, and reports its process and its folder.
  auto task = [](size_t index, const std::string &folder) -> Outcome {
    fprintf(stderr, "%zu:", index);
    if (index == 7)
      abort();
    std::error_code error;
    llvm::sys::fs::directory_iterator files(folder, error), end;
    return {!error && files == end ? Status::Passed : Status::Failed,
            std::to_string(getpid()), 1, 2};
  };
  constexpr size_t count = 60;
  std::vector<std::string> messages(count);
  std::set<std::string> processes;
  size_t passed = 0;
  EXPECT_EQ(forEach(
                count, [](size_t) { return 10; }, 1, task,
                [&](size_t index, const Outcome &outcome) {
                  messages[index] = outcome.message;
                  passed += outcome.status == Status::Passed;
                }),
            "");
  EXPECT_EQ(passed, count - 1);
  for (size_t i = 0; i < count; ++i) {
    auto [text, process] = llvm::StringRef(messages[i]).split(':');
    if (i == 7) {
      EXPECT_TRUE(llvm::StringRef(messages[i]).starts_with("crashed"));
      EXPECT_TRUE(llvm::StringRef(messages[i]).ends_with("; 7:"));
      continue;
    }
    EXPECT_EQ(text, std::to_string(i));
    processes.insert(process.str());
  }
  EXPECT_LT(processes.size(), 10u);
  EXPECT_NE(messages[6], messages[8]);
}

TEST_F(Conformance, PartsCoverAllCasesOnce) {
  Product product;
  for (int i = 0; i < 40; ++i)
    addCase("case_" + std::to_string(i), product.makeModel(), product.input(),
            product.output());
  std::multiset<std::string> names;
  for (unsigned part = 0; part < 10; ++part) {
    std::vector<Case> cases;
    (void)findCases(root, {"", part, 10}, cases);
    for (const Case &test : cases)
      names.insert(test.name);
  }
  EXPECT_EQ(names.size(), 40u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 40u);
  std::vector<Case> cases;
  EXPECT_EQ(findCases(root, {"case_1*", 0, 1}, cases), "");
  EXPECT_EQ(cases.size(), 11u);
  EXPECT_EQ(cases[0].row, "MatMul");
}

TEST_F(Conformance, GapsOfTheOperatorTableAreFound) {
  Product product;
  addCase("sum", product.makeModel(), product.input(), product.output());
  std::vector<Case> cases;
  ASSERT_EQ(findCases(root, {}, cases), "");
  Column column;
  Results results{column, cases, {{Status::Passed, "", 0, 0}}, 0};
  write(root + "/ops.md",
        "## ai.onnx\n\n| operator | imported | expanded | missing | not "
        "supported yet | types |\n|---|---|---|---|---|---|\n"
        "| MatMul | 9, 13 | | 1 | | T: double float |\n"
        "| Sum | | 8 | | | T: float; V: map(string,float) |\n");
  std::string text;
  llvm::raw_string_ostream os(text);
  Error error;
  EXPECT_EQ(printGaps(results, root + "/ops.md", os, error), 7u);
  EXPECT_EQ(error, "");
  EXPECT_NE(text.find("MatMul: shapes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Sum: shapes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("MatMul: 9\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Sum: 8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("MatMul: T: double\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Sum: T: float, V: map(string,float)\n"),
            std::string::npos)
      << text;
}

/// Passing cases of a set cover the shapes that occur in them.
TEST_F(Conformance, OperatorsWithoutShapesAreFound) {
  Product product;
  addCase("sum", product.makeModel(), product.input(), product.output(),
          "shapes");
  std::vector<Case> cases;
  ASSERT_EQ(findCases(root, {}, cases), "");
  write(root + "/ops.md", "## ai.onnx\n\n| MatMul | 13 | | | | T: float |\n\n"
                          "## com.microsoft\n\n| Gelu | 1 | | | | |\n");
  Column column;
  for (Status status : {Status::Passed, Status::Failed}) {
    Results results{column, cases, {{status, "", 0, 0}}, 0};
    std::string text;
    llvm::raw_string_ostream os(text);
    Error error;
    (void)printGaps(results, root + "/ops.md", os, error);
    EXPECT_EQ(text.find("MatMul: shapes\n") == std::string::npos,
              status == Status::Passed)
        << text;
    EXPECT_EQ(text.find("Gelu: shapes\n"), std::string::npos) << text;
  }
}

/// Types are collected also from values between nodes and in branches.
TEST_F(Conformance, TypesOfAllNodesAreKnown) {
  Tensor input = makeTensor({4}, makeNumbers(4));
  addCase("chain",
          model(node("Cast", {"x"}, "a", attribute("to", number(3, 11), 2)) +
                node("Abs", {"a"}, "b") +
                node("Cast", {"b"}, "y", attribute("to", number(3, 1), 2)) +
                field(11, value("x", "\4")) + field(12, value("y", "\4"))),
          input, input);
  std::vector<Case> cases;
  ASSERT_EQ(findCases(root, {}, cases), "");
  auto &types = cases.at(0).model.types;
  EXPECT_TRUE(types.count({"", "Abs", "T", "double"}));
  EXPECT_FALSE(types.count({"", "Abs", "T", "float"}));
  EXPECT_TRUE(types.count({"", "Cast", "T1", "float"}));
  EXPECT_TRUE(types.count({"", "Cast", "T2", "double"}));
}

} // namespace
