// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Invalid files: rejected with the reason before dlopen.

#include "RuntimeTest.h"
#include "Stamp.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace adze::test;

namespace {
struct ModuleFile : testing::Test {
  Bytes file = readFile(ADZE_FAKE_MODULE);
  std::string path =
      testing::TempDir() + "adze-module-" + std::to_string(getpid()) + ".so";

  ~ModuleFile() override { std::remove(path.c_str()); }

  adze_status open(const adze_options *options = nullptr) {
    adze_module *module = nullptr;
    writeFile(path, file);
    adze_status status = adze_module_open(path.c_str(), options, &module);
    adze_module_release(module);
    return status;
  }
  ModulePtr openModule(const adze_options *options) {
    adze_module *module = nullptr;
    writeFile(path, file);
    Outcome outcome(adze_module_open(path.c_str(), options, &module));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return ModulePtr(module);
  }
  adze_module_note *note() { return findNote(file); }
};
} // namespace

TEST_F(ModuleFile, GoodOneOpens) { ASSERT_ADZE_OK(open()); }

TEST_F(ModuleFile, FromMemory) {
  adze_module *module = nullptr;
  ASSERT_ADZE_OK(
      adze_module_open_memory(file.data(), file.size(), nullptr, &module));
  std::fill(file.begin(), file.end(), '\0');
  ModulePtr owner(module);
  ContextPtr context = makeContext(module);
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST_F(ModuleFile, Missing) {
  adze_module *module = nullptr;
  EXPECT_ADZE_ERROR(adze_module_open("no/such/file.so", nullptr, &module),
                    ADZE_IO_ERROR, "no/such/file.so: No such file");
}

TEST_F(ModuleFile, Folder) {
  adze_module *module = nullptr;
  EXPECT_ADZE_ERROR(
      adze_module_open(testing::TempDir().c_str(), nullptr, &module),
      ADZE_INVALID_MODULE, "not a regular file");
}

TEST_F(ModuleFile, Empty) {
  file.clear();
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "not a module");
}

TEST_F(ModuleFile, Text) {
  const char text[] = "this is no shared object at all";
  file.assign(text, text + sizeof(text));
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "no ELF magic");
}

TEST_F(ModuleFile, CutAtOneKilobyte) {
  file.resize(1024);
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "truncated");
}

TEST_F(ModuleFile, CutInTheMiddle) {
  file.resize(file.size() / 2);
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "truncated");
}

/// Two damaged parts, of which the second is found while the first waits for
/// the other segments. The leak check detects the status of the first one.
TEST_F(ModuleFile, DamagedNoteBeforeDamagedSegment) {
  auto *header = reinterpret_cast<Elf64_Ehdr *>(file.data());
  auto *segments =
      reinterpret_cast<Elf64_Phdr *>(file.data() + header->e_phoff);
  // The file's magic number read as a note has a name of a gigabyte.
  segments[0].p_type = PT_NOTE;
  segments[0].p_offset = 0;
  segments[0].p_filesz = 64;
  segments[1].p_filesz = UINT64_MAX;
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "damaged program headers");
}

// Every length: no prefix may crash, and only the whole file opens.
TEST_F(ModuleFile, CutAnywhere) {
  Bytes whole = file;
  for (size_t size = 0; size < whole.size(); size += size < 2048 ? 7 : 97) {
    adze_module *module = nullptr;
    Outcome outcome(
        adze_module_open_memory(whole.data(), size, nullptr, &module));
    ASSERT_EQ(outcome.code, ADZE_INVALID_MODULE) << "at " << size;
  }
}

// One changed byte outside of the weights: rejected without a crash.
TEST_F(ModuleFile, ChangedAnywhere) {
  uint64_t begin = note()->weights_offset;
  uint64_t end = begin + note()->weights_size;
  for (size_t at = 0; at < file.size(); at += at < 2048 ? 3 : 61) {
    if (at >= begin && at < end)
      continue;
    Bytes changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    adze_module *module = nullptr;
    Outcome outcome(adze_module_open_memory(changed.data(), changed.size(),
                                            nullptr, &module));
    ASSERT_FALSE(outcome.ok()) << "at " << at;
  }
}

// Each run reports it, also that of another context.
TEST_F(ModuleFile, DamagedWeightsAreFoundByTheFirstRun) {
  file[note()->weights_offset + 100] ^= 1;
  for (const char *verify : {"all", "on"}) {
    OptionsPtr options = makeOptions("verify", verify);
    ModulePtr module = openModule(options.get());
    for (int i = 0; i < 2; ++i) {
      ContextPtr context = makeContext(module.get());
      FakeCall call(3, 8);
      for (int k = 0; k < 2; ++k)
        EXPECT_ADZE_ERROR(
            call.run(context.get()), ADZE_INVALID_MODULE,
            "damaged weights: bytes [0, 4096): expected checksum");
    }
  }
  for (const char *verify : {"code", "off"}) {
    OptionsPtr options = makeOptions("verify", verify);
    ModulePtr module = openModule(options.get());
    ContextPtr context = makeContext(module.get());
    FakeCall call(3, 8);
    ASSERT_ADZE_OK(call.run(context.get()));
  }
}

TEST_F(ModuleFile, TooLong) {
  file.push_back(0);
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "longer than its note says");
}

TEST_F(ModuleFile, ForeignSharedObject) {
  // The owner's name identifies it.
  *(reinterpret_cast<char *>(note()) - 12) = 'X';
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE,
                    "a shared object without note 'Adze'");
  file = readFile("/proc/self/exe");
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "not");
}

TEST_F(ModuleFile, NewerAbi) {
  note()->abi = 7;
  stamp(file);
  EXPECT_ADZE_ERROR(
      open(), ADZE_INVALID_MODULE,
      "made for module ABI 7, but this run time reads ABI 1 to 2");
}

TEST_F(ModuleFile, OtherMachine) {
  reinterpret_cast<Elf64_Ehdr *>(file.data())->e_machine = EM_RISCV;
  stamp(file);
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "expected a module for ");
}

TEST_F(ModuleFile, CpuFeatureThatIsLacking) {
  note()->cpu_features = 1ull << 40;
  stamp(file);
  EXPECT_ADZE_ERROR(open(), ADZE_UNSUPPORTED,
                    "needs CPU features that this machine lacks: bits "
                    "0x10000000000 unknown");
}

TEST_F(ModuleFile, ChecksumIsOptional) {
  note()->checksum ^= 1;
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "expected checksum");
  OptionsPtr options = makeOptions("verify", "code");
  EXPECT_ADZE_ERROR(open(options.get()), ADZE_INVALID_MODULE,
                    "expected checksum");
  options = makeOptions("verify", "off");
  ASSERT_ADZE_OK(open(options.get()));
}

TEST_F(ModuleFile, WeightsOutsideTheFile) {
  note()->weights_offset = file.size() - 8;
  EXPECT_ADZE_ERROR(open(), ADZE_INVALID_MODULE, "weights lie outside");
}

// dlopen alone would return the old code, as it identifies modules by name.
TEST_F(ModuleFile, ReplacedWhileTheOldOneIsOpen) {
  writeFile(path, file);
  adze_module *module = nullptr;
  ASSERT_ADZE_OK(adze_module_open(path.c_str(), nullptr, &module));
  ModulePtr old(module);
  const char digits[] = "by hand";
  auto at = std::search(file.begin(), file.end(), digits, digits + 7);
  ASSERT_NE(at, file.end());
  *at = 'B';
  stamp(file);
  std::remove(path.c_str());
  writeFile(path, file);
  ASSERT_ADZE_OK(adze_module_open(path.c_str(), nullptr, &module));
  ModulePtr replaced(module);
  const char *json;
  ASSERT_ADZE_OK(adze_module_info(old.get(), &json));
  EXPECT_NE(std::string(json).find("by hand"), std::string::npos);
  ASSERT_ADZE_OK(adze_module_info(replaced.get(), &json));
  EXPECT_NE(std::string(json).find("By hand"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// New weights
//===----------------------------------------------------------------------===//

namespace {
struct SwappedWeights : ModuleFile {
  /// Opens the fake module, and writes one whose factor is 3.
  ModulePtr openAndWrite(const adze_options *options = nullptr) {
    EXPECT_TRUE(setFactorThree(file));
    writeFile(path, file);
    return openFake(options);
  }
  static void expectFactor(const FakeCall &call, float factor) {
    for (size_t i = 0; i < call.sum.data.size(); ++i)
      ASSERT_EQ(call.sum.data[i], call.x.data[i] + call.y.data[i] * factor);
  }
};
} // namespace

TEST_F(SwappedWeights, ServeContextsThatAreThere) {
  ModulePtr module = openAndWrite();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
  ASSERT_ADZE_OK(adze_swap_weights(module.get(), path.c_str()));
  std::remove(path.c_str());
  ASSERT_ADZE_OK(call.run(context.get()));
  expectFactor(call, 3.0f);
  ASSERT_ADZE_OK(adze_swap_weights(module.get(), ADZE_FAKE_MODULE));
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST_F(SwappedWeights, WhileOthersRun) {
  OptionsPtr options = makeOptions("threads", "1");
  ModulePtr module = openAndWrite(options.get());
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      ContextPtr context = makeContext(module.get());
      FakeCall call(3, 8);
      while (!ends) {
        ASSERT_ADZE_OK(call.run(context.get()));
        bool isNew = call.sum.data[0] == call.x.data[0] + call.y.data[0] * 3.0f;
        expectFactor(call, isNew ? 3.0f : 2.0f);
      }
    });
  for (int i = 0; i < 100; ++i) {
    const char *from = i % 2 ? ADZE_FAKE_MODULE : path.c_str();
    ASSERT_ADZE_OK(adze_swap_weights(module.get(), from));
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(SwappedWeights, DamagedOnesChangeNothing) {
  ModulePtr module = openAndWrite();
  file[note()->weights_offset + 100] ^= 1;
  writeFile(path, file);
  EXPECT_ADZE_ERROR(adze_swap_weights(module.get(), path.c_str()),
                    ADZE_INVALID_MODULE, "damaged weights: bytes [0, 4096)");
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST_F(SwappedWeights, OfOtherCodeAreRefused) {
  ModulePtr module = openAndWrite();
  const char id[] = "4567";
  auto at = std::search(file.begin(), file.end(), id, id + sizeof(id));
  ASSERT_NE(at, file.end());
  *at = '5';
  stamp(file);
  writeFile(path, file);
  EXPECT_ADZE_ERROR(adze_swap_weights(module.get(), path.c_str()),
                    ADZE_INVALID_MODULE, "but got other code");
  EXPECT_ADZE_ERROR(adze_swap_weights(module.get(), "no/such/file.so"),
                    ADZE_IO_ERROR, "no/such/file.so: No such file");
  EXPECT_ADZE_ERROR(adze_swap_weights(module.get(), nullptr),
                    ADZE_INVALID_ARGUMENT, "expected a module and a path");
}

TEST(Variant, BestThatRunsIsTaken) {
  ModulePtr module = openFake();
  const char *json;
  ASSERT_ADZE_OK(adze_module_info(module.get(), &json));
  EXPECT_NE(std::string(json).find("\"variant\": \"baseline\""),
            std::string::npos)
      << json;
}

TEST(Variant, MayBeNamed) {
  OptionsPtr options = makeOptions("variant", "baseline");
  EXPECT_TRUE(openFake(options.get()));
  options = makeOptions("variant", "impossible");
  adze_module *module = nullptr;
  EXPECT_ADZE_ERROR(adze_module_open(ADZE_FAKE_MODULE, options.get(), &module),
                    ADZE_UNSUPPORTED,
                    "no variant 'impossible' that runs on this CPU");
}
