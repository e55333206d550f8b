// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// JSON, and results of checks in JSON.
#include "Api.h"
#include "Compiler.h"
#include "Json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace adze::ep;
using testing::HasSubstr;

namespace {

TEST(Json, Values) {
  Json value = parseJson(
      R"( {"a": [1, -2.5e1, true, false, null], "b\n\u0041\u20ac": "x\"\\",)"
      R"( "c": {}, "d": []} )");
  ASSERT_EQ(value["a"].elements.size(), 5u);
  EXPECT_EQ(value["a"].elements[0].number, 1);
  EXPECT_EQ(value["a"].elements[1].number, -25);
  EXPECT_EQ(value["a"].elements[2].number, 1);
  EXPECT_EQ(value["a"].elements[3].number, 0);
  EXPECT_EQ(value["a"].elements[4].kind, Json::Kind::Null);
  EXPECT_EQ(value["b\nA?"].text, "x\"\\");
  EXPECT_EQ(value["c"].kind, Json::Kind::Object);
  EXPECT_EQ(value["d"].kind, Json::Kind::Array);
  EXPECT_EQ(value["missing"].kind, Json::Kind::Null);
}

TEST(Json, Faults) {
  for (const char *text :
       {"", "{", "[1,", "[1 2]", "{\"a\" 1}", "\"", "\"\\", "\"\\u12",
        "\"\\x\"", "tru", "-", "1 2", "{a: 1}", "[1]]"})
    EXPECT_THROW(parseJson(text), Error) << text;
  EXPECT_THROW(parseJson(std::string(100, '[')), Error);
}

TEST(CheckResult, Issues) {
  CheckResult result = readCheckResult(R"({"model": "m.onnx", "issues": [
      {"node": "blur", "index": 3, "op": "com.example.Blur-1",
       "kind": "unsupported", "reason": "no kernel"},
      {"kind": "error", "reason": "of the model"}]})");
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].node, 3u);
  EXPECT_EQ(result.refusals[0].reason,
            "node 'blur' (com.example.Blur-1): no kernel");
  EXPECT_EQ(result.wholeModel, "of the model");
}

TEST(CheckResult, NoneAndFaults) {
  CheckResult result = readCheckResult(R"({"issues": []})");
  EXPECT_TRUE(result.refusals.empty());
  EXPECT_EQ(result.wholeModel, "");
  EXPECT_THROW(readCheckResult("{}"), Error);
  EXPECT_THROW(readCheckResult("{\"issues\": [{\"ind"), Error);
}

} // namespace
