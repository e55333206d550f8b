// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Options of sessions, and the compatibility of EPContext models.
#include "AdzeCommit.h"
#include "Context.h"
#include "adze.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace adze::ep;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

std::string getRefusal(const char *key, const char *value) {
  try {
    readOptions({{std::string("ep.adze.") + key, value}});
  } catch (const Error &error) {
    EXPECT_EQ(error.code, ORT_INVALID_ARGUMENT);
    return error.what();
  }
  return "";
}

TEST(Options, Defaults) {
  Options options = readOptions(
      {{"session.disable_prepacking", "1"}, {"ep.other.threads", "x"}});
  EXPECT_TRUE(options.usesSessionThreads);
  EXPECT_EQ(options.minNodes, 1u);
  EXPECT_TRUE(options.cacheFolder.empty());
  EXPECT_THAT(options.runtime, IsEmpty());
  EXPECT_THAT(options.compilerOptions, IsEmpty());
  EXPECT_FALSE(options.makesContexts);
}

TEST(Options, OfProviderRunTimeAndCompiler) {
  Options options = readOptions({{"ep.adze.threads", "3"},
                                 {"ep.adze.thread_pool", "adze"},
                                 {"ep.adze.verify_module", "off"},
                                 {"ep.adze.cache_dir", "some/folder"},
                                 {"ep.adze.min_nodes", "4"},
                                 {"ep.adze.exclude_ops", "Conv,,Gemm"},
                                 {"ep.adze.O", "3"},
                                 {"ep.adze.tune_db", "log"},
                                 {"ep.adze.dim", "N=1..64;S=128"}});
  EXPECT_FALSE(options.usesSessionThreads);
  EXPECT_EQ(options.cacheFolder, "some/folder");
  EXPECT_EQ(options.minNodes, 4u);
  EXPECT_THAT(options.excludedOperators, ElementsAre("Conv", "Gemm"));
  EXPECT_THAT(options.runtime,
              ElementsAre(Pair("threads", "3"), Pair("verify", "off")));
  EXPECT_THAT(options.compilerOptions,
              ElementsAre(Pair("O", "3"), Pair("tune-db", "log")));
  EXPECT_THAT(options.dims,
              ElementsAre(Pair("N", "N=1..64"), Pair("S", "S=128")));
}

// The options of add_provider_for_devices, not those of the session.
TEST(Options, ProviderOptionsWin) {
  for (bool isFirst : {false, true}) {
    Pairs entries = {{"ep.adze.threads", "1"}};
    entries.insert(isFirst ? entries.begin() : entries.end(),
                   {"ep.adzeexecutionprovider.threads", "2"});
    EXPECT_THAT(readOptions(entries).runtime,
                ElementsAre(Pair("threads", "2")));
  }
}

TEST(Options, Contexts) {
  Options options = readOptions({{"ep.context_enable", "1"},
                                 {"ep.context_embed_mode", "1"},
                                 {"ep.context_file_path", "a/b.onnx"}});
  EXPECT_TRUE(options.makesContexts);
  EXPECT_TRUE(options.embedsContexts);
  EXPECT_EQ(options.contextFile, "a/b.onnx");
}

TEST(Options, Refusals) {
  EXPECT_EQ(getRefusal("threads", "many"),
            "option 'threads': expected a number, but got 'many'");
  EXPECT_EQ(getRefusal("min_nodes", "-1"),
            "option 'min_nodes': expected a number, but got '-1'");
  EXPECT_EQ(getRefusal("thread_pool", "own"),
            "option 'thread_pool': expected session or adze, but got 'own'");
  EXPECT_EQ(getRefusal("target", "cuda:sm_90a"),
            "option 'target': expected an option of atranslate that keeps a "
            "module for the CPU in memory");
  EXPECT_NE(getRefusal("allow_host_fallback", "true"), "");
}

TEST(Compatibility, OfThisVersion) {
  std::string info = getCompatibility();
  EXPECT_EQ(info.find("adze;version=" ADZE_VERSION ";abi="), 0u);
  EXPECT_EQ(checkCompatibility(info.c_str()),
            OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL);
}

TEST(Compatibility, OfOthers) {
  std::string abi = std::to_string(adze_abi_version() + 1);
  EXPECT_EQ(checkCompatibility(
                ("adze;version=9;abi=" + abi + ";arch=x86_64").c_str()),
            OrtCompiledModelCompatibility_EP_UNSUPPORTED);
  EXPECT_EQ(checkCompatibility("adze;version=0.1.0;abi=1;arch=vax"),
            OrtCompiledModelCompatibility_EP_UNSUPPORTED);
  for (const char *other : {"", "adze", "openvino;version=1;abi=1;arch=x86_64"})
    EXPECT_EQ(checkCompatibility(other),
              OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
  EXPECT_EQ(checkCompatibility(nullptr),
            OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
}

} // namespace
