// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions that host programs call, one by one, also with invalid data.

#include "FunctionCalls.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace adze::test;

namespace {

struct Match {
  bool ok, matches;
  std::string message;
};
Match match(const std::string &pattern, const std::string &text) {
  Operand both = setStrings({pattern, text});
  std::vector<Operand> result = {{kBool, {}}};
  Outcome outcome(
      runOne("regex_full_match", {pick(both, 1), pick(both, 0)}, result));
  return {outcome.ok(), outcome.ok() && result[0].at<bool>(0), outcome.message};
}

std::string repeat(const std::string &text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

} // namespace

TEST(Functions, RegularExpressionsMatchTheWholeText) {
  struct {
    const char *pattern, *text;
    bool matches;
  } rows[] = {{"a|bc", "bc", true},
              {"a|bc", "abc", false},
              {"(a|b)*c", "ababc", true},
              {"a{2,3}", "aaaa", false},
              {"a{2,}", "aaaa", true},
              {"a{2}", "aa", true},
              {"a{x", "a{x", true},
              {"[^a-c]+", "xyz", true},
              {"[]a]", "]", true},
              {"[a-]", "-", true},
              {"\\d+\\.\\w", "12.z", true},
              {"\\D", "5", false},
              {"[[:alpha:]]*", "aZ", true},
              {"\\x41\\x{42}", "AB", true},
              {".", "\n", false},
              {"^a$", "a", true},
              {"a\\b", "a", true},
              {"(?:ab)?", "", true},
              {"(?P<n>a)", "a", true},
              {"", "", true},
              {"(){5}", "", true},
              {"()*", "", true},
              {"(a*)*", "aaa", true},
              {"\xC3\xA4.", "\xC3\xA4\xE2\x82\xAC", true}};
  for (const auto &row : rows) {
    Match got = match(row.pattern, row.text);
    EXPECT_TRUE(got.ok) << row.pattern << ": " << got.message;
    EXPECT_EQ(got.matches, row.matches) << row.pattern << " " << row.text;
  }
}

TEST(Functions, WrongRegularExpressionsAreTold) {
  for (const char *pattern :
       {"(",         ")",           "a)",   "[",     "[a",      "[z-a]",
        "[\\d-z]x[", "[[:foo:]]",   "\\",   "[\\",   "*",       "a|*",
        "(?i)a",     "(?",          "(?P",  "(?P<n", "a{1001}", "a{3,2}",
        "\\x",       "\\x{110000}", "\\x{", "\\pL",  "\\1"}) {
    Match got = match(pattern, "a");
    EXPECT_FALSE(got.ok) << pattern;
    EXPECT_NE(got.message.find("node 'Node_0': expected a regular expression"),
              std::string::npos)
        << pattern << ": " << got.message;
  }
}

TEST(Functions, RegularExpressionsHaveBounds) {
  EXPECT_NE(match("((a{1000}){1000}){1000}", "a").message.find("at most"),
            std::string::npos);
  EXPECT_NE(match(repeat("(", 100000), "a").message.find("too deep"),
            std::string::npos);
  EXPECT_NE(match(repeat("a", 200000), "a").message.find("at most"),
            std::string::npos);
  // An expression that takes exponential time with backtracking.
  EXPECT_FALSE(match("(a*)*(a*)*(a*)*b", repeat("a", 50000)).matches);
  EXPECT_TRUE(
      match(repeat("a?", 2000) + repeat("a", 2000), repeat("a", 2000)).matches);
}

/// Bytes that are not UTF-8 are separate characters, and are kept.
TEST(Functions, BadUtf8) {
  std::vector<std::string> texts = {"\xC3",
                                    "\xC3"
                                    "A",
                                    "\xE0\x81\x81",
                                    "\xED",
                                    "\xF0\x9F\x98",
                                    std::string("A\0B", 3),
                                    "\xFF\xFE",
                                    "\xC3\x84"
                                    "B"};
  for (const std::string &text : texts) {
    EXPECT_TRUE(match("(?:.|\n)*", text).matches);
    EXPECT_TRUE(match(text.find('\0') == text.npos ? text : "A.B", text).ok);
  }
  Operand x = setStrings(texts);
  std::vector<Operand> lower = {{kString, {-1}}};
  std::vector<Operand> rejoined = {{kString, {8}}};
  std::vector<Operand> same = {
      {kInt, {-1}}, {kInt, {-1}}, {kInt, {8}}, {kInt, {-1}}};
  same[0].type = kString;
  ASSERT_ADZE_OK(runProgram([&](const Calls &call) {
    Operand none = make<int64_t>(kString, {0}, {});
    if (int32_t code =
            call("string_normalize",
                 {x, none, vector(std::vector<int64_t>{1, 1})}, lower))
      return code;
    Operand empty = make<int64_t>(kString, {8}, std::vector<int64_t>(8));
    Operand low{kString, {8}, lower[0].data};
    if (int32_t code = call("string_concat", {low, empty}, rejoined))
      return code;
    // All of them are different strings.
    return call(
        "unique",
        {{kString, {8}, rejoined[0].data}, vector(std::vector<int64_t>{1, -1})},
        same);
  }));
  EXPECT_EQ(lower[0].dims[0], 8);
  EXPECT_EQ(same[0].dims[0], 8);
  // Only the last three of them have letters that change.
  for (size_t i : {0u, 2u, 3u, 4u, 6u})
    EXPECT_EQ(lower[0].at<int64_t>(i), x.at<int64_t>(i)) << i;
  for (size_t i : {1u, 5u, 7u})
    EXPECT_NE(lower[0].at<int64_t>(i), x.at<int64_t>(i)) << i;
}

TEST(Functions, StringsAreSplit) {
  Operand x = setStrings({"a,b,,c", "", ",", "abc", ","});
  Operand words = make<int64_t>(kString, {4}, {1, 0, 2, 3});
  auto split = [&](int64_t delimiter, int64_t most) {
    std::vector<Operand> results = {{kString, {4, -1}}, {kInt, {4}}};
    Outcome outcome(
        runOne("string_split",
               {words, make<int64_t>(kString, {}, {delimiter}), scalar(most)},
               results));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return results;
  };
  EXPECT_EQ(split(2, -1)[0].dims[1], 4);
  EXPECT_EQ(split(2, -1)[1].at<int64_t>(1), 1); // "" is one piece, ""
  EXPECT_EQ(split(2, -1)[1].at<int64_t>(2), 2);
  EXPECT_EQ(split(2, 1)[0].dims[1], 2);
  EXPECT_EQ(split(0, -1)[0].dims[1], 1);
  EXPECT_EQ(split(0, -1)[1].at<int64_t>(1), 0);
  EXPECT_EQ(split(2, INT64_MIN)[0].dims[1], 4);
}

/// The tokens of one string, by the numbers of the module's strings.
TEST(Functions, TokensAreFound) {
  enum { Separators = 0, Tokens = 1, Characters = 2 };
  struct {
    std::string text, pattern;
    int64_t kind, least;
    std::vector<std::string> tokens;
  } rows[] = {{"ab cd", " ", Separators, 1, {"ab", "cd"}},
              {" ab  c ", " ", Separators, 1, {"ab", "c"}},
              {"ab c", " ", Separators, 2, {"ab"}},
              {"aXXb", "X|XX", Separators, 1, {"a", "b"}},
              {"aab aab", "\\b", Separators, 1, {"ab", "ab"}},
              {"ab", "b*$", Separators, 1, {"a"}},
              {"bcd", "abcd|bc", Tokens, 1, {"bc"}},
              {"abcd", "abcd|bc", Tokens, 1, {"abcd"}},
              {"abcx", "abcd|bc", Tokens, 1, {"bc"}},
              {"abcdef", "[a-c]{2}|[a-f]{4}", Tokens, 3, {"abcd"}},
              {"aXa", "^a|a$", Tokens, 1, {"a", "a"}},
              {"xaax", "a*", Tokens, 1, {"aa"}},
              {"a\xC3\xA4", "", Characters, 1, {"a", "\xC3\xA4"}}};
  for (const auto &row : rows) {
    std::vector<std::string> texts{row.text, row.pattern};
    texts.insert(texts.end(), row.tokens.begin(), row.tokens.end());
    Operand all = setStrings(texts);
    std::vector<Operand> result = {{kString, {1, -1}}};
    ASSERT_ADZE_OK(runOne("tokenize",
                          {make<int64_t>(kString, {1}, {all.at<int64_t>(0)}),
                           make<int64_t>(kString, {1}, {all.at<int64_t>(1)}),
                           vector(std::vector<int64_t>{row.kind, 0, row.least}),
                           make<int64_t>(kString, {}, {0})},
                          result));
    ASSERT_EQ(result[0].dims[1], int64_t(row.tokens.size())) << row.text;
    for (size_t i = 0; i < row.tokens.size(); ++i)
      EXPECT_EQ(result[0].at<int64_t>(i), all.at<int64_t>(i + 2))
          << row.text << " " << i;
  }
  setStrings({"a\xC3", "x"});
  std::vector<Operand> result = {{kString, {1, -1}}};
  EXPECT_ADZE_ERROR(runOne("tokenize",
                           {make<int64_t>(kString, {1}, {1}),
                            make<int64_t>(kString, {1}, {2}),
                            vector(std::vector<int64_t>{Separators, 0, 1}),
                            make<int64_t>(kString, {}, {0})},
                           result),
                    ADZE_RUN_ERROR,
                    "node 'Node_0': expected UTF-8, but got byte 0xc3");
}

TEST(Functions, NumbersAreReadOrRefused) {
  Operand x = setStrings({"1.5", "-inf", "nan", "1e400", "0x10", "1e-50"});
  std::vector<Operand> floats = {{kFloat, {6}}};
  ASSERT_ADZE_OK(runOne("cast", {x}, floats));
  EXPECT_EQ(floats[0].at<float>(0), 1.5f);
  EXPECT_EQ(floats[0].at<float>(1), -INFINITY);
  EXPECT_TRUE(std::isnan(floats[0].at<float>(2)));
  EXPECT_EQ(floats[0].at<float>(3), INFINITY);
  for (const char *text : {"", "x", "1.5x", "--1", "1,5"}) {
    Operand wrong = setStrings({text});
    if (!*text)
      wrong = make<int64_t>(kString, {1}, {0});
    std::vector<Operand> result = {{kFloat, {1}}};
    EXPECT_ADZE_ERROR(runOne("cast", {wrong}, result), ADZE_RUN_ERROR,
                      "node 'Node_0': expected a number of f32, but got");
  }
}

/// NaN is one value, which is last.
TEST(Functions, UniqueOfNotANumber) {
  gStrings = {""};
  Operand x = vector(std::vector<float>{NAN, 2, NAN, -0.0f, 0.0f, 1});
  std::vector<Operand> results = {
      {kFloat, {-1}}, {kInt, {-1}}, {kInt, {6}}, {kInt, {-1}}};
  ASSERT_ADZE_OK(
      runOne("unique", {x, vector(std::vector<int64_t>{1, -1})}, results));
  EXPECT_EQ(results[0].dims[0], 4);
  EXPECT_TRUE(std::isnan(results[0].at<float>(3)));
  EXPECT_EQ(results[3].at<int64_t>(3), 2);
}

/// Numbers of both signs and all sizes, sorted and in order of appearance.
TEST(Functions, UniqueOfAnyNumbers) {
  gStrings = {""};
  auto run = [&](Operand x, int64_t sorted) {
    std::vector<Operand> results = {
        {x.type, {-1}}, {kInt, {-1}}, {kInt, {6}}, {kInt, {-1}}};
    Outcome outcome(runOne(
        "unique", {x, vector(std::vector<int64_t>{sorted, -1})}, results));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return results;
  };
  auto expect = [](const Operand &operand, std::vector<int64_t> values) {
    ASSERT_EQ(operand.dims[0], int64_t(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(operand.at<int64_t>(i), values[i]) << i;
  };
  Operand whole =
      vector(std::vector<int64_t>{5, -1, 5, INT64_MIN, INT64_MAX, -1});
  auto sorted = run(whole, 1), unsorted = run(whole, 0);
  expect(sorted[0], {INT64_MIN, -1, 5, INT64_MAX});
  expect(sorted[1], {3, 1, 0, 4});
  expect(sorted[2], {2, 1, 2, 0, 3, 1});
  expect(sorted[3], {1, 2, 2, 1});
  expect(unsorted[0], {5, -1, INT64_MIN, INT64_MAX});
  expect(unsorted[2], {0, 1, 0, 2, 3, 1});
  auto real = run(
      vector(std::vector<float>{-1.5f, 2, -INFINITY, 1e-40f, -1e30f, 2}), 1);
  ASSERT_EQ(real[0].dims[0], 5);
  const float values[] = {-INFINITY, -1e30f, -1.5f, 1e-40f, 2};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(real[0].at<float>(i), values[i]) << i;
  expect(real[1], {2, 4, 0, 3, 1});
}

TEST(Functions, BoxesOfAnyKind) {
  gStrings = {""};
  std::vector<float> corners;
  for (float v : {0.0f, NAN, INFINITY, -1e38f, 1e38f})
    for (int k = 0; k < 4; ++k)
      corners.push_back(k % 2 ? v : -v);
  Operand boxes = make<float>(kFloat, {1, 5, 4}, corners);
  Operand scores = make<float>(kFloat, {1, 1, 5}, {NAN, 1, NAN, INFINITY, -1});
  auto run = [&](int64_t most) {
    std::vector<Operand> result = {{kInt, {-1, 3}}};
    Outcome outcome(
        runOne("non_max_suppression",
               {boxes, scores, scalar(most), make<float>(kFloat, {}, {0.5f}),
                make<float>(kFloat, {}, {-INFINITY}), scalar(0)},
               result));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return result[0].dims[0];
  };
  EXPECT_EQ(run(0), 0);
  EXPECT_EQ(run(-5), 0);
  EXPECT_LE(run(INT64_MAX), 5);
}

/// Boxes (corners, one class, descending scores) that greedy suppression keeps,
/// each compared with all kept ones.
std::vector<int64_t> suppressAll(const std::vector<float> &corners,
                                 float threshold) {
  std::vector<int64_t> kept;
  auto extent = [&](int64_t box, int d) {
    auto [low, high] =
        std::minmax(corners[box * 4 + d], corners[box * 4 + d + 2]);
    return std::pair(low, high);
  };
  auto area = [&](int64_t box) {
    auto [top, bottom] = extent(box, 0);
    auto [left, right] = extent(box, 1);
    return (bottom - top) * (right - left);
  };
  auto overlap = [&](int64_t x, int64_t y) {
    float common = 1;
    for (int d = 0; d < 2; ++d)
      common *=
          std::max(0.0f, std::min(extent(x, d).second, extent(y, d).second) -
                             std::max(extent(x, d).first, extent(y, d).first));
    float all = area(x) + area(y) - common;
    return area(x) > 0 && area(y) > 0 && all > 0 && common / all > threshold;
  };
  for (int64_t box = 0; box < static_cast<int64_t>(corners.size() / 4); ++box)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](int64_t other) { return overlap(box, other); }))
      kept.push_back(box);
  return kept;
}

/// Boxes are indexed by cells, for all positions and sizes.
TEST(Functions, BoxesFarApart) {
  gStrings = {""};
  std::mt19937 random(5);
  auto number = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  for (float apart : {0.0f, 3.0f, 1000.0f, 1e7f})
    for (float threshold : {0.0f, 0.3f, 1.0f})
      for (bool hasHuge : {false, true}) {
        std::vector<float> corners, scores;
        for (int64_t i = 0; i < 400; ++i) {
          float shift = apart * static_cast<float>(random() % 20) - apart;
          bool isHuge = hasHuge && i % 97 == 5;
          float x = number(-1, 4) + shift, y = number(-1, 4) + shift;
          float w = isHuge ? 5 * apart + 9 : number(0, 2), h = number(-1, 1);
          corners.insert(corners.end(), {y, x, y + h, x + w});
          scores.push_back(static_cast<float>(1000 - i));
        }
        std::vector<Operand> result = {{kInt, {-1, 3}}};
        ASSERT_ADZE_OK(
            runOne("non_max_suppression",
                   {make<float>(kFloat, {1, 400, 4}, corners),
                    make<float>(kFloat, {1, 1, 400}, scores), scalar(INT64_MAX),
                    make<float>(kFloat, {}, {threshold}),
                    make<float>(kFloat, {}, {-INFINITY}), scalar(0)},
                   result));
        std::vector<int64_t> expected = suppressAll(corners, threshold), kept;
        for (int64_t i = 0; i < result[0].dims[0]; ++i)
          kept.push_back(result[0].at<int64_t>(i * 3 + 2));
        EXPECT_EQ(kept, expected) << apart << " apart, over " << threshold;
      }
}

TEST(Functions, BoxesOfEqualScoresKeepTheirOrder) {
  const std::vector<float> scores = {0.0f, -1,       2,  -0.0f,
                                     2,    INFINITY, -1, 1e-40f};
  std::vector<float> corners;
  for (size_t i = 0; i < scores.size(); ++i)
    for (float at : {0.0f, 2.0f * float(i), 1.0f, 2.0f * float(i) + 1})
      corners.push_back(at);
  std::vector<Operand> result = {{kInt, {-1, 3}}};
  ASSERT_ADZE_OK(runOne("non_max_suppression",
                        {make<float>(kFloat, {1, 8, 4}, corners),
                         make<float>(kFloat, {1, 1, 8}, scores),
                         scalar(INT64_MAX), make<float>(kFloat, {}, {0.5f}),
                         make<float>(kFloat, {}, {-INFINITY}), scalar(0)},
                        result));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < result[0].dims[0]; ++i)
    kept.push_back(result[0].at<int64_t>(i * 3 + 2));
  EXPECT_EQ(kept, (std::vector<int64_t>{5, 2, 4, 7, 0, 3, 1, 6}));
}

TEST(Functions, SequencesOfWrongPlacesAndSizes) {
  gStrings = {""};
  Operand x = vector(std::vector<float>{1, 2, 3});
  for (std::vector<int64_t> split : {std::vector<int64_t>{1, 1},
                                     {4, -1},
                                     {INT64_MAX, INT64_MAX},
                                     {-3, 6},
                                     {3, 0, 1},
                                     {}}) {
    std::vector<Operand> result = {{kSequence, {}}};
    Outcome outcome(
        runOne("split_to_sequence",
               {x, vector(std::vector<int64_t>{0, 1}), vector(split)}, result));
    EXPECT_EQ(outcome.ok(), split.empty()) << outcome.message;
  }
  for (int64_t at : {int64_t(2), int64_t(-3), INT64_MIN, INT64_MAX}) {
    std::vector<Operand> list = {{kSequence, {}}}, element = {{kFloat, {-1}}};
    EXPECT_ADZE_ERROR(
        runProgram([&](const Calls &call) {
          if (int32_t code = call("sequence_construct", {x, x}, list))
            return code;
          return call("sequence_at", {list[0], scalar(at)}, element);
        }),
        ADZE_RUN_ERROR, "expected a place in a sequence of 2");
  }
}

/// Invalid numbers of strings and values.
TEST(Functions, NumbersOfNothing) {
  Operand x = setStrings({"a"});
  for (int64_t number : {int64_t(-1), int64_t(2), INT64_MAX, INT64_MIN}) {
    Operand wrong = make<int64_t>(kString, {1}, {number});
    std::vector<Operand> text = {{kString, {1}}}, length = {{kInt, {}}};
    EXPECT_ADZE_ERROR(runOne("string_concat", {x, wrong}, text),
                      ADZE_INTERNAL_ERROR, "expected the number of a string");
    EXPECT_ADZE_ERROR(runOne("sequence_length",
                             {make<int64_t>(kSequence, {}, {number})}, length),
                      ADZE_INTERNAL_ERROR, "expected the number of a value");
  }
}

/// The numbers of NumPy's RandomState, for a seed of 32 bits and for a key of
/// two words, beyond one state of the generator.
TEST(Functions, RandomNumbersOfASeed) {
  constexpr int64_t kDouble = ADZE_VALUE_TYPE(kDLFloat, 64, ADZE_TENSOR);
  std::vector<Operand> uniform = {{kDouble, {3}}};
  ASSERT_ADZE_OK(runOne("random_uniform", {scalar(0)}, uniform));
  EXPECT_EQ(uniform[0].at<double>(0), 0.5488135039273248);
  EXPECT_EQ(uniform[0].at<double>(1), 0.7151893663724195);
  EXPECT_EQ(uniform[0].at<double>(2), 0.6027633760716439);
  uniform = {{kDouble, {2}}};
  ASSERT_ADZE_OK(runOne("random_uniform", {scalar(0x300000007)}, uniform));
  EXPECT_EQ(uniform[0].at<double>(0), 0.9770716452238201);
  EXPECT_EQ(uniform[0].at<double>(1), 0.2604433886759464);
  uniform = {{kDouble, {2, 650}}};
  ASSERT_ADZE_OK(runOne("random_uniform", {scalar(5)}, uniform));
  EXPECT_EQ(uniform[0].at<double>(311), 0.9985157672628341);
  EXPECT_EQ(uniform[0].at<double>(312), 0.03834193016002463);
  EXPECT_EQ(uniform[0].at<double>(1299), 0.9586348928368746);
  std::vector<Operand> disc = {{kDouble, {5}}, {kDouble, {5}}};
  ASSERT_ADZE_OK(runOne("random_disc", {scalar(0)}, disc));
  const double normal[] = {1.764052345967664, 0.4001572083672233,
                           0.9787379841057392, 2.240893199201458,
                           1.8675579901499675};
  for (size_t i = 0; i < 5; ++i) {
    double square = disc[1].at<double>(i);
    EXPECT_NEAR(disc[0].at<double>(i) *
                    std::sqrt(-2 * std::log(square) / square),
                normal[i], 1e-14);
  }
}

TEST(Functions, RandomNumbersHaveTheirTypeAndSize) {
  constexpr int64_t kDouble = ADZE_VALUE_TYPE(kDLFloat, 64, ADZE_TENSOR);
  std::vector<Operand> result = {{kDouble, {0, 3}}};
  ASSERT_ADZE_OK(runOne("random_uniform", {scalar(1)}, result));
  result = {{kDouble, {-1}}};
  EXPECT_ADZE_ERROR(runOne("random_uniform", {scalar(1)}, result),
                    ADZE_INVALID_MODULE, "expected dims that are known");
  result = {{kFloat, {2}}};
  EXPECT_ADZE_ERROR(runOne("random_uniform", {scalar(1)}, result),
                    ADZE_INVALID_MODULE, "expected results of f64");
  result = {{kDouble, {2}}, {kDouble, {3}}};
  EXPECT_ADZE_ERROR(runOne("random_disc", {scalar(1)}, result),
                    ADZE_INVALID_MODULE, "expected results of one size");
}
