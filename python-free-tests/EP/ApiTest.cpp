// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The version handshake, on tables that end with their version, so that reading
// a newer entry is a fault.
#include "Api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace adze::ep;
using testing::HasSubstr;

extern "C" OrtStatus *CreateEpFactories(const char *, const OrtApiBase *,
                                        const OrtLogger *, OrtEpFactory **,
                                        size_t, size_t *);
extern "C" OrtStatus *ReleaseEpFactory(OrtEpFactory *);

namespace {

/// A table whose last entry is at the end of readable memory.
class Table {
public:
  explicit Table(size_t slots) {
    page = size_t(sysconf(_SC_PAGESIZE));
    size = (slots * sizeof(void *) + page - 1) / page * page + page;
    memory = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory + size - page, page, PROT_NONE), 0);
    begin = reinterpret_cast<const void **>(memory + size - page) - slots;
    for (size_t i = 0; i < slots; ++i)
      begin[i] = reinterpret_cast<const void *>(0x1000 + i);
  }
  Table(const Table &) = delete;
  ~Table() { munmap(memory, size); }

  const void **begin = nullptr;

private:
  char *memory = nullptr;
  size_t size = 0, page = 0;
};

// Arguments and results of the functions of the fake ONNX Runtime.
const char *versionText;
uint32_t askedVersion;
const void *apiTable, *epTable, *editorTable;
int statusCode;
std::string statusText;

OrtStatus *createStatus(OrtErrorCode code, const char *text) {
  statusCode = code;
  statusText = text;
  return reinterpret_cast<OrtStatus *>(&statusCode);
}
const void *getEpApi() { return epTable; }
const void *getEditorApi() { return editorTable; }

const OrtApiBase base = {[](uint32_t version) -> const void * {
                           askedVersion = version;
                           return apiTable;
                         },
                         [] { return versionText; }};

/// A version of ONNX Runtime whose table has this many entries.
class Handshake : public testing::Test {
protected:
  void SetUp() override { apiTable = epTable = editorTable = nullptr; }

  void run(const char *version, size_t slots) {
    versionText = version;
    askedVersion = 0;
    table = std::make_unique<Table>(slots);
    epFunctions = std::make_unique<Table>(3);
    editorFunctions = std::make_unique<Table>(7);
    table->begin[0] = reinterpret_cast<const void *>(createStatus);
    if (slots > 317) {
      table->begin[317] = reinterpret_cast<const void *>(getEpApi);
      table->begin[291] = reinterpret_cast<const void *>(getEditorApi);
    }
    apiTable = table->begin;
    epTable = epFunctions->begin;
    editorTable = editorFunctions->begin;
  }

  std::unique_ptr<Table> table, epFunctions, editorFunctions;
  Api api;
};

TEST_F(Handshake, OldestVersion) {
  run("1.23.2", 380);
  EXPECT_EQ(loadApi(base, api), "");
  EXPECT_EQ(askedVersion, 23u);
  EXPECT_EQ(api.version, 23u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(api.ort.GetSessionOptionsConfigEntries),
            0x1000u + 379);
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(api.ep.EpGraphSupportInfo_AddNodesToFuse),
      0x1000u + 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(api.editor.CreateNode), 0x1000u + 6);
  EXPECT_EQ(api.ort.TensorTypeAndShape_HasShape, nullptr);
  EXPECT_EQ(api.ort.GetTensorElementTypeAndShapeDataReference, nullptr);
}

// If it is newer, only the newest known version is requested.
TEST_F(Handshake, NewerVersions) {
  for (const char *version : {"1.24.0", "1.32.0", "1.99.0-dev"}) {
    run(version, 415);
    EXPECT_EQ(loadApi(base, api), "") << version;
    EXPECT_EQ(askedVersion, 24u) << version;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(
                  api.ort.GetTensorElementTypeAndShapeDataReference),
              0x1000u + 414);
  }
}

TEST_F(Handshake, TooOld) {
  run("1.22.1", 318);
  EXPECT_EQ(loadApi(base, api),
            "expected ONNX Runtime 1.23 or newer, but got 1.22.1");
  OrtEpFactory *factory = nullptr;
  size_t count = 7;
  EXPECT_NE(CreateEpFactories("name", &base, nullptr, &factory, 1, &count),
            nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(statusCode, ORT_NOT_IMPLEMENTED);
  EXPECT_EQ(statusText, "AdzeExecutionProvider: expected ONNX Runtime 1.23 or "
                        "newer, but got 1.22.1");
}

// The fake decides whether it still provides the known API.
TEST_F(Handshake, UnknownVersions) {
  for (const char *version : {"2.0.0", "nightly"}) {
    run(version, 415);
    EXPECT_EQ(loadApi(base, api), "") << version;
    EXPECT_EQ(askedVersion, 24u) << version;
    EXPECT_EQ(api.version, 24u) << version;
    apiTable = nullptr;
    EXPECT_THAT(
        loadApi(base, api),
        HasSubstr(std::string("but got ") + version + ", which has no API 24"));
  }
  // In that case, no status can be created.
  OrtEpFactory *factory = nullptr;
  size_t count = 7;
  EXPECT_EQ(CreateEpFactories("name", &base, nullptr, &factory, 1, &count),
            nullptr);
  EXPECT_EQ(count, 0u);
}

TEST_F(Handshake, NoTable) {
  run("1.24.0", 415);
  apiTable = nullptr;
  EXPECT_THAT(loadApi(base, api), HasSubstr("which has no API 24"));
  run("1.24.0", 415);
  epTable = nullptr;
  EXPECT_THAT(loadApi(base, api), HasSubstr("minimal build"));
}

TEST_F(Handshake, Factory) {
  run("1.23.0", 380);
  OrtEpFactory *factory = nullptr;
  size_t count = 0;
  EXPECT_NE(CreateEpFactories("name", &base, nullptr, &factory, 0, &count),
            nullptr);
  EXPECT_THAT(statusText, HasSubstr("expected capacity for a factory"));
  ASSERT_EQ(CreateEpFactories("name", &base, nullptr, &factory, 1, &count),
            nullptr);
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(factory->GetName(factory), "AdzeExecutionProvider");
  EXPECT_STREQ(factory->GetVendor(factory), "Adze");
  EXPECT_EQ(factory->ort_version_supported, 23u);
  void *transfer = &count;
  EXPECT_EQ(factory->CreateDataTransfer(factory, &transfer), nullptr);
  EXPECT_EQ(transfer, nullptr);
  EXPECT_EQ(ReleaseEpFactory(factory), nullptr);
}

} // namespace
