// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The compilations of a search for schedules, and the replay of its database.
// No GPU is needed: `make test-gpu` runs the whole search.
#include "Pipeline/Compile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace adze;

namespace {

class ScheduleTrialTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("trial", folder));
    write("model.mlir", R"(
func.func @main(%x: tensor<512x512xf16> {graph.name = "x"}, %w: tensor<512x2048xf16> {graph.name = "w"})
    -> (tensor<512x2048xf16> {graph.name = "y"}) {
  %0 = graph.matmul %x, %w : (tensor<512x512xf16>, tensor<512x2048xf16>) -> tensor<512x2048xf16>
  %1 = graph.relu %0 : (tensor<512x2048xf16>) -> tensor<512x2048xf16>
  return %1 : tensor<512x2048xf16>
}
)");
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(const char *name) { return (folder + "/" + name).str(); }

  void write(const char *name, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path(name), code) << text;
    ASSERT_FALSE(code);
  }

  std::string read(const char *name) {
    auto file = llvm::MemoryBuffer::getFile(path(name));
    return file ? (*file)->getBuffer().str() : "";
  }

  CompileOptions getOptions() {
    CompileOptions options;
    options.input = path("model.mlir");
    options.output = path("out.mlir");
    options.emit = Emit::Tile;
    options.cpu = false;
    options.cudaTargets = {"cuda:sm_90a"};
    options.tune = Tune::Measure;
    options.tuneDatabase = path("db.json");
    options.jobs = 1;
    return options;
  }

  /// Compiles the model, and returns the messages.
  std::string run(const CompileOptions &options, CompileStatus expected) {
    std::string messages;
    llvm::raw_string_ostream os(messages);
    EXPECT_EQ(compile(options, os), expected) << messages;
    return messages;
  }

  /// Returns the kernels of a trial.
  std::vector<ScheduleTrial::Kernel> list(unsigned alternative,
                                          int64_t columns = 2048) {
    ScheduleTrial trial;
    trial.alternative = alternative;
    CompileOptions options = getOptions();
    options.trial = &trial;
    run(options, CompileStatus::Done);
    EXPECT_EQ(trial.inputDims,
              std::vector<std::vector<int64_t>>({{512, 512}, {512, columns}}));
    return trial.kernels;
  }

  llvm::SmallString<64> folder;
};

TEST_F(ScheduleTrialTest, AlternativesDifferAndEnd) {
  std::vector<std::string> schedules;
  for (unsigned alternative = 0;; ++alternative) {
    ASSERT_LT(alternative, 100u);
    auto kernels = list(alternative);
    if (kernels.empty())
      break;
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_FALSE(kernels[0].entry.parameters.empty());
    EXPECT_NE(read("out.mlir").find(kernels[0].entry.schedule),
              std::string::npos);
    for (const std::string &other : schedules)
      EXPECT_NE(kernels[0].entry.schedule, other);
    schedules.push_back(kernels[0].entry.schedule);
  }
  EXPECT_GT(schedules.size(), 2u);
}

TEST_F(ScheduleTrialTest, DatabaseReplaysWithoutGpu) {
  auto kernels = list(1);
  ASSERT_EQ(kernels.size(), 1u);
  TuneDatabase database;
  database.add(kernels[0].key, kernels[0].entry);
  ASSERT_FALSE(database.write(path("db.json")));
  run(getOptions(), CompileStatus::Done);
  EXPECT_NE(read("out.mlir").find(kernels[0].entry.schedule),
            std::string::npos);
  // Nothing is left to measure.
  EXPECT_TRUE(list(0).empty());
  // The whole module has code for the schedule.
  CompileOptions module = getOptions();
  module.emit = Emit::PTX;
  module.output = path("out.ptx");
  run(module, CompileStatus::Done);
  EXPECT_NE(read("out.ptx").find("wgmma.mma_async"), std::string::npos);
}

TEST_F(ScheduleTrialTest, ListingHasAnOutputIfAllIsKnown) {
  auto kernels = list(1);
  ASSERT_EQ(kernels.size(), 1u);
  write("out.mlir", "from before");
  ScheduleTrial listed;
  CompileOptions options = getOptions();
  options.trial = &listed;
  options.cache = path("cache");
  run(options, CompileStatus::Done);
  EXPECT_GT(listed.mostChoices, 2u);
  EXPECT_TRUE(listed.kernels.empty());
  EXPECT_EQ(read("out.mlir"), "from before");
  TuneDatabase database;
  database.add(kernels[0].key, kernels[0].entry);
  ASSERT_FALSE(database.write(path("db.json")));
  run(options, CompileStatus::Done);
  EXPECT_EQ(listed.mostChoices, 0u);
  EXPECT_NE(read("out.mlir").find(kernels[0].entry.schedule),
            std::string::npos);
  // What was there before did not go to the cache.
  ASSERT_FALSE(llvm::sys::fs::remove(path("db.json")));
  run(options, CompileStatus::Done);
  EXPECT_GT(listed.mostChoices, 2u);
}

TEST_F(ScheduleTrialTest, KeysDependOnSizes) {
  auto first = list(0);
  std::string text = read("model.mlir");
  for (size_t at; (at = text.find("512x2048")) != std::string::npos;)
    text.replace(at, 8, "512x1024");
  write("model.mlir", text);
  auto second = list(0, 1024);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(first[0].key, second[0].key);
}

TEST_F(ScheduleTrialTest, InvalidScheduleIsAnError) {
  auto kernels = list(0);
  ASSERT_EQ(kernels.size(), 1u);
  TuneDatabase database;
  TuneEntry entry = kernels[0].entry;
  entry.schedule = "#tile.schedule<fast>";
  database.add(kernels[0].key, entry);
  ASSERT_FALSE(database.write(path("db.json")));
  std::string messages = run(getOptions(), CompileStatus::InputAtFault);
  EXPECT_NE(messages.find("db.json: invalid schedule of entry '" +
                          kernels[0].key + "'"),
            std::string::npos)
      << messages;
}

TEST_F(ScheduleTrialTest, InvalidParameterIsAnError) {
  auto kernels = list(0);
  ASSERT_EQ(kernels.size(), 1u);
  TuneDatabase database;
  TuneEntry entry = kernels[0].entry;
  entry.parameters["BLOCK_M"] = 0;
  database.add(kernels[0].key, entry);
  ASSERT_FALSE(database.write(path("db.json")));
  std::string messages = run(getOptions(), CompileStatus::InputAtFault);
  EXPECT_NE(messages.find("db.json: entry '" + kernels[0].key + "' of kernel"),
            std::string::npos)
      << messages;
  EXPECT_NE(
      messages.find("expected BLOCK_M to be from 1 to 1073741824, but got 0"),
      std::string::npos)
      << messages;
}

} // namespace
