// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Information about a module and its runs: signature, JSON, profile, log.

#include "RuntimeTest.h"

#include <cctype>
#include <cstring>

using namespace adze::test;

namespace {
/// Accepts exactly JSON's grammar (numbers loosely); stores no values.
class JsonReader {
public:
  static bool accepts(const std::string &text) {
    JsonReader reader(text);
    return reader.value() && (reader.space(), *reader.at == 0);
  }

private:
  explicit JsonReader(const std::string &text) : at(text.c_str()) {}

  void space() {
    while (*at && std::isspace(static_cast<unsigned char>(*at)))
      ++at;
  }
  bool take(char expected) {
    space();
    if (*at != expected)
      return false;
    ++at;
    return true;
  }
  bool word(const char *expected) {
    size_t length = std::strlen(expected);
    if (std::strncmp(at, expected, length))
      return false;
    at += length;
    return true;
  }
  bool string() {
    if (!take('"'))
      return false;
    for (; *at && *at != '"'; ++at) {
      if (static_cast<unsigned char>(*at) < 0x20)
        return false;
      if (*at == '\\' && !*++at)
        return false;
    }
    return take('"');
  }
  bool number() {
    char *end;
    std::strtod(at, &end);
    bool some = end != at;
    at = end;
    return some;
  }
  bool members(char close, bool named) {
    if (take(close))
      return true;
    do {
      if (named && !(string() && take(':')))
        return false;
      if (!value())
        return false;
    } while (take(','));
    return take(close);
  }
  bool value() {
    space();
    if (*at == '{' || *at == '[') {
      bool named = *at++ == '{';
      return members(named ? '}' : ']', named);
    }
    if (*at == '"')
      return string();
    return word("true") || word("false") || word("null") || number();
  }

  const char *at;
};

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST(Json, ReaderCanFail) {
  EXPECT_TRUE(JsonReader::accepts("{\"a\": [1, \"b\\\"\", null]}"));
  EXPECT_FALSE(JsonReader::accepts("{\"a\": [1, ]}"));
  EXPECT_FALSE(JsonReader::accepts("{\"a\" 1}"));
  EXPECT_FALSE(JsonReader::accepts("{} x"));
}

TEST(Info, SignatureIsTold) {
  ModulePtr module = openFake();
  ASSERT_EQ(adze_module_num_inputs(module.get()), 2);
  ASSERT_EQ(adze_module_num_outputs(module.get()), 3);
  const adze_value_info *info;
  ASSERT_ADZE_OK(adze_module_input(module.get(), 1, &info));
  EXPECT_STREQ(info->name, "y");
  EXPECT_EQ(info->kind, ADZE_TENSOR);
  EXPECT_EQ(info->dtype.code, kDLFloat);
  EXPECT_EQ(info->dtype.bits, 32);
  ASSERT_EQ(info->rank, 2);
  EXPECT_EQ(info->dims[0], -1);
  EXPECT_STREQ(info->symbols[0], "batch");
  EXPECT_EQ(info->ranges[0].min, 1);
  EXPECT_EQ(info->ranges[0].max, 64);
  EXPECT_STREQ(info->symbols[1], "len");
  EXPECT_EQ(info->ranges[1].multiple_of, 4);
  ASSERT_ADZE_OK(adze_module_output(module.get(), 2, &info));
  EXPECT_STREQ(info->name, "tiny");
  EXPECT_EQ(info->dims[0], 2);
  EXPECT_EQ(info->symbols[0], nullptr);
  EXPECT_ADZE_ERROR(adze_module_output(module.get(), 3, &info),
                    ADZE_INVALID_ARGUMENT, "below 3, but got 3");
}

TEST(Info, JsonIsWellFormed) {
  ModulePtr module = openFake();
  const char *text;
  ASSERT_ADZE_OK(adze_module_info(module.get(), &text));
  std::string json = text;
  EXPECT_TRUE(JsonReader::accepts(json)) << json;
  for (const char *part :
       {"\"model\": \"fake\"", "\"arena_bytes\": 16",
        "\"arena_lower_bound_bytes\": 16", "\"weights_bytes\": 4096",
        "\"shape\": [\"batch\", \"len\"]", "\"target\": \"cuda:sm_70\""})
    EXPECT_TRUE(contains(json, part)) << part << " in " << json;
}

TEST(Profile, NamesKernelsAndNodes) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  const char *text;
  EXPECT_ADZE_ERROR(adze_profile_end(context.get(), &text),
                    ADZE_INVALID_ARGUMENT, "no profile");
  ASSERT_ADZE_OK(adze_profile_begin(context.get()));
  for (int i = 0; i < 300; ++i)
    ASSERT_ADZE_OK(call.run(context.get()));
  ASSERT_ADZE_OK(adze_profile_end(context.get(), &text));
  std::string json = text;
  EXPECT_TRUE(JsonReader::accepts(json));
  for (const char *part :
       {"\"traceEvents\"", "\"name\": \"add\"",
        "\"nodes\": [\"Mul_0\", \"Add \\\"1\\\"\"]", "\"flops\": 48",
        "\"bytes_read\": 192", "\"bytes_written\": 96", "\"bytes\": 288",
        "\"device\": \"cpu\"", "\"ph\": \"X\"", "\"cat\": \"run\""})
    EXPECT_TRUE(contains(json, part)) << part;
  // Two runs later, without a profile, nothing is recorded.
  ASSERT_ADZE_OK(call.run(context.get()));
  ASSERT_ADZE_OK(adze_profile_begin(context.get()));
  ASSERT_ADZE_OK(adze_profile_end(context.get(), &text));
  EXPECT_TRUE(JsonReader::accepts(text));
  EXPECT_FALSE(contains(text, "\"name\": \"add\""));
}

TEST(Log, TellsWhatWasOpened) {
  std::string log;
  OptionsPtr options = makeOptions();
  ASSERT_ADZE_OK(adze_options_set_log(
      options.get(),
      [](void *user, adze_log_level, const char *message) {
        *static_cast<std::string *>(user) += message;
      },
      &log));
  ModulePtr module = openFake(options.get());
  EXPECT_TRUE(
      contains(log, "opened module 'fake' of ABI 2, cpu variant 'baseline'"))
      << log;
}

TEST(Abi, VersionIsTold) { EXPECT_EQ(adze_abi_version(), 2u); }
