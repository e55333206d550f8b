// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Modules assembled from parts: the contents of the file.
#include "Package/Package.h"
#include "adze.h"
#include "adze_module.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"
#include "gmock/gmock.h"
#include <dlfcn.h>
#include <fstream>

using namespace llvm;
using namespace adze;
using namespace adze::package;

namespace {

const char *const program = R"(
define i32 @run(ptr %t, ptr %e, ptr %i, ptr %o, ptr %a, ptr %w, ptr %s) {
  ret i32 0
}
define void @infer(ptr %s, ptr %d) { ret void }
define i64 @zero(ptr %s) { ret i64 0 }
define i64 @one(ptr %s) { ret i64 1 }
define void @body(ptr %p, ptr %s, i64 %lo, i64 %hi, ptr %scratch) {
  %x = load ptr, ptr %p
  %v = load double, ptr %x
  %r = call double @tanh(double %v)
  store double %r, ptr %x
  ret void
}
declare double @tanh(double)
)";

class PackageTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("package-test", folder));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) {
    SmallString<128> result(folder);
    sys::path::append(result, name);
    return result.str().str();
  }

  static SmallVector<char, 0> compile(StringRef text,
                                      const cpu::CpuTarget &target) {
    LLVMContext context;
    SMDiagnostic problem;
    auto module = parseAssemblyString(text, problem, context);
    SmallVector<char, 0> object;
    EXPECT_TRUE(module) << problem.getMessage().str();
    cantFail(cpu::emitObject(*module, target, 2, object));
    return object;
  }

  static ModuleParts makeParts(StringRef text, const cpu::CpuTarget &target) {
    ModuleParts parts;
    parts.objects.push_back(compile(text, target));
    ModuleDescription &d = parts.description;
    d.producer = "test";
    d.modelName = "model";
    d.inputs.push_back({"x", 2, 32, {{-1, 0}, {4, -1}}});
    d.outputs.push_back({"y", 2, 32, {{4, -1}}});
    d.symbols.push_back({"n", 1, 64, 1});
    d.kernels.push_back({"k", "conv1\nrelu1", 1, 1, "", "", "", ""});
    d.variants.push_back(
        {target.moduleFeatures, target.cpu, {{"body", "one", ""}}});
    d.run = "run";
    d.infer = "infer";
    d.arenaBytes = d.arenaLowerBound = "zero";
    return parts;
  }

  static void addWeight(ModuleParts &parts, uint64_t offset, std::string data) {
    parts.weights.push_back({offset, data.size(), [data](raw_ostream &os) {
                               os << data;
                               return Error::success();
                             }});
    parts.description.weightsSize = offset + data.size();
  }

  cpu::CpuTarget host = cantFail(cpu::CpuTarget::resolve("", "native"));
  SmallString<128> folder;
};

std::string read(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, false, false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

adze_module_note findNote(const std::string &bytes, size_t &place) {
  adze_module_note note = {};
  size_t owner = bytes.find(std::string("Adze\0\0\0\0", 8));
  EXPECT_NE(owner, std::string::npos);
  place = owner + 8;
  memcpy(&note, bytes.data() + place, sizeof(note));
  return note;
}

/// A module loaded into this process; if loading failed, no query, and dlerror.
struct Loaded {
  explicit Loaded(const std::string &file)
      : module(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (module)
      query = reinterpret_cast<adze_module_query_fn>(
          dlsym(module, ADZE_MODULE_QUERY));
  }
  Loaded(const Loaded &) = delete;
  Loaded &operator=(const Loaded &) = delete;
  ~Loaded() {
    if (module)
      dlclose(module);
  }

  void *module;
  adze_module_query_fn query = nullptr;
};

TEST_F(PackageTest, ModuleAnswersWithItsTables) {
  ModuleParts parts = makeParts(program, host);
  addWeight(parts, 64, "seven..");
  ASSERT_FALSE(bool(writeModule(parts, host, path("m.so"))));
  Loaded module(path("m.so"));
  ASSERT_TRUE(module.query) << dlerror();
  EXPECT_EQ(module.query(ADZE_MODULE_ABI + 1), nullptr);
  const adze_module_desc *d = module.query(ADZE_MODULE_ABI);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->size, sizeof(adze_module_desc));
  EXPECT_STREQ(d->inputs[0].name, "x");
  EXPECT_EQ(d->inputs[0].dims[0].size, -1);
  EXPECT_EQ(d->inputs[0].dims[1].size, 4);
  EXPECT_EQ(d->symbols[0].max, 64);
  EXPECT_STREQ(d->kernels[0].nodes, "conv1\nrelu1");
  EXPECT_EQ(d->kernels[0].flops, nullptr);
  EXPECT_EQ(d->variants[0].kernels[0].programs(nullptr), 1);
  EXPECT_EQ(d->variants[0].kernels[0].scratch_bytes, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(d->weights) % 4096, 0u);
  EXPECT_EQ(memcmp(static_cast<const char *>(d->weights) + 64, "seven..", 7),
            0);

  // Math is inside.
  double value = 0.5;
  void *pointers[] = {&value};
  d->variants[0].kernels[0].body(pointers, nullptr, 0, 1, nullptr, nullptr);
  EXPECT_NEAR(value, std::tanh(0.5), 1e-15);
}

TEST_F(PackageTest, NoteDescribesTheFile) {
  ModuleParts parts = makeParts(program, host);
  addWeight(parts, 0, std::string(5000, 'w'));
  ASSERT_FALSE(bool(writeModule(parts, host, path("m.so"))));
  std::string bytes = read(path("m.so"));
  size_t place;
  adze_module_note note = findNote(bytes, place);
  EXPECT_EQ(note.abi, ADZE_MODULE_ABI);
  EXPECT_EQ(note.machine, host.elfMachine);
  EXPECT_EQ(note.cpu_features, host.moduleFeatures);
  EXPECT_EQ(note.file_size, bytes.size());
  EXPECT_EQ(note.weights_size, 5000u);
  EXPECT_EQ(bytes.substr(note.weights_offset, 5000), std::string(5000, 'w'));

  std::string checked = bytes;
  memset(checked.data() + place + offsetof(adze_module_note, checksum), 0, 4);
  checked.erase(note.weights_offset, note.weights_size);
  EXPECT_EQ(note.checksum, crc32(arrayRefFromStringRef(checked)));
}

/// The alignment at which the file's first bytes must be mapped.
uint64_t getAlignment(StringRef path) {
  std::string bytes = read(path);
  auto file = cantFail(object::ELFFile<object::ELF64LE>::create(bytes));
  for (const auto &segment : cantFail(file.program_headers()))
    if (segment.p_type == ELF::PT_LOAD && segment.p_offset == 0)
      return segment.p_align;
  return 0;
}

TEST_F(PackageTest, WeightsThatFillAHugePageLieInSuch) {
  ModuleParts parts = makeParts(program, host);
  addWeight(parts, 64, "small");
  ASSERT_FALSE(bool(writeModule(parts, host, path("small.so"))));
  EXPECT_EQ(getAlignment(path("small.so")), 4096u);

  // Pieces of any length, with gaps, over several writes.
  std::string all(3 * hugePage + 1000, '\0');
  parts = makeParts(program, host);
  uint64_t at = 0;
  for (uint64_t size : {uint64_t(100), hugePage, hugePage + 321}) {
    at = alignTo(at, 4096);
    std::string piece(size, '\0');
    for (uint64_t i = 0; i < size; ++i)
      piece[i] = char(at + i * 7 + i / 251);
    all.replace(at, size, piece);
    addWeight(parts, at, piece);
    at += size;
  }
  parts.description.weightsSize = all.size();
  ASSERT_FALSE(bool(writeModule(parts, host, path("m.so"))));
  EXPECT_EQ(getAlignment(path("m.so")), hugePage);
  EXPECT_EQ(*sys::fs::getPermissions(path("m.so")),
            *sys::fs::getPermissions(path("small.so")));
  std::string bytes = read(path("m.so"));
  size_t place;
  adze_module_note note = findNote(bytes, place);
  EXPECT_EQ(note.file_size, bytes.size());
  EXPECT_TRUE(bytes.substr(note.weights_offset, note.weights_size) == all);

  Loaded module(path("m.so"));
  ASSERT_TRUE(module.query) << dlerror();
  const adze_module_desc *d = module.query(ADZE_MODULE_ABI);
  EXPECT_EQ(memcmp(d->weights, all.data(), all.size()), 0);
  // Two blocks, of which the second is partial.
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(d->weights_checksums[i],
              xxh3_64bits(arrayRefFromStringRef(StringRef(all).substr(
                  i * ADZE_WEIGHTS_BLOCK, ADZE_WEIGHTS_BLOCK))));
}

TEST_F(PackageTest, SameParts_SameBytes) {
  for (const char *name : {"a.so", "b.so"}) {
    ModuleParts parts = makeParts(program, host);
    addWeight(parts, 0, "weights");
    ASSERT_FALSE(bool(writeModule(parts, host, path(name))));
  }
  EXPECT_EQ(read(path("a.so")), read(path("b.so")));
  EXPECT_EQ(read(path("a.so")).find(folder.str().str()), std::string::npos);
}

/// Runs the module's program, which has no kernels: y becomes the first
/// weights.
std::string runForWeights(adze_module *module, std::vector<float> &y) {
  adze_context *context = nullptr;
  adze_status status = adze_context_create(module, {kDLCPU, 0}, &context);
  std::vector<float> x(4);
  int64_t inDims[] = {1, 4}, outDims[] = {4};
  DLTensor in = {x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1},
                 inDims,   nullptr,     0};
  DLTensor out = {y.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1},
                  outDims,  nullptr,     0};
  const DLTensor *ins[] = {&in};
  DLTensor *outs[] = {&out};
  if (!status)
    status = adze_run(context, ins, 1, outs, 1);
  std::string message = adze_status_message(status);
  adze_status_free(status);
  adze_context_release(context);
  return message;
}

/// A program that returns the first four weights.
static std::string getWeightsProgram() {
  std::string text = program;
  StringRef nothing = "  ret i32 0\n}\ndefine void @infer(ptr %s, ptr %d) {";
  text.replace(text.find(nothing.str()), nothing.size(), R"(
  %y = load ptr, ptr %o
  %v = load <4 x float>, ptr %w, align 4
  store <4 x float> %v, ptr %y, align 4
  ret i32 0
}
define void @infer(ptr %s, ptr %d) {
  store i64 4, ptr %d)");
  return text;
}

TEST_F(PackageTest, WeightsInAFileOfTheirOwn) {
  ModuleParts parts = makeParts(getWeightsProgram(), host);
  std::vector<float> weights = {1.5f, -2.0f, 3.25f, 4.0f};
  addWeight(parts, 0,
            std::string(reinterpret_cast<const char *>(weights.data()), 16));
  parts.weightsFile = path("m.weights");
  ASSERT_FALSE(bool(writeModule(parts, host, path("m.so"))));
  EXPECT_EQ(read(path("m.weights")).size(), ADZE_WEIGHTS_OFFSET + 16u);

  adze_module *module = nullptr;
  std::vector<float> y(4);
  ASSERT_EQ(adze_module_open(path("m.so").c_str(), nullptr, &module), nullptr);
  EXPECT_EQ(runForWeights(module, y), "");
  EXPECT_EQ(y, weights);
  adze_module_release(module);

  // A module in memory has no folder, but an option may set it.
  std::string bytes = read(path("m.so"));
  adze_status status =
      adze_module_open_memory(bytes.data(), bytes.size(), nullptr, &module);
  EXPECT_EQ(adze_status_code(status), ADZE_IO_ERROR);
  EXPECT_THAT(adze_status_message(status),
              ::testing::HasSubstr("a file 'm.weights'"));
  adze_status_free(status);
  adze_options *options = nullptr;
  ASSERT_EQ(adze_options_create(&options), nullptr);
  ASSERT_EQ(adze_options_set(options, "weights", path("m.weights").c_str()),
            nullptr);
  ASSERT_EQ(
      adze_module_open_memory(bytes.data(), bytes.size(), options, &module),
      nullptr);
  adze_options_release(options);
  y.assign(4, 0);
  EXPECT_EQ(runForWeights(module, y), "");
  EXPECT_EQ(y, weights);
  adze_module_release(module);

  // The first run reports a damaged file.
  ASSERT_FALSE(bool(patchFile(path("m.weights"), ADZE_WEIGHTS_OFFSET, "!")));
  ASSERT_EQ(adze_module_open(path("m.so").c_str(), nullptr, &module), nullptr);
  EXPECT_THAT(
      runForWeights(module, y),
      ::testing::HasSubstr("m.weights: damaged weights: bytes [0, 16)"));
  adze_module_release(module);
}

/// Returns the messages of opening the module and of a run.
static std::string openAndRun(const std::string &path) {
  adze_module *module = nullptr;
  adze_status status = adze_module_open(path.c_str(), nullptr, &module);
  std::string message = adze_status_message(status);
  adze_status_free(status);
  if (!module)
    return message;
  std::vector<float> y(4);
  message = runForWeights(module, y);
  adze_module_release(module);
  return message;
}

TEST_F(PackageTest, WeightsFileHasChecksOfItsOwn) {
  auto write = [&](const std::string &name, char first) {
    ModuleParts parts = makeParts(getWeightsProgram(), host);
    addWeight(parts, 0, std::string(16, first));
    parts.weightsFile = path(name + ".weights");
    ASSERT_FALSE(bool(writeModule(parts, host, path(name + ".so"))));
  };
  write("m", 'a');
  write("other", 'b');
  const std::string good = read(path("m.weights"));
  auto runWith = [&](std::string bytes) {
    std::ofstream(path("m.weights"), std::ios::binary) << bytes;
    return openAndRun(path("m.so"));
  };
  auto damaged = [&](size_t at) {
    std::string bytes = good;
    bytes[at] ^= 1;
    return runWith(bytes);
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(runWith(good), "");

  // A damaged header is not that of another module: each field of it.
  EXPECT_THAT(damaged(0), HasSubstr("m.weights: not a file of weights"));
  for (size_t at : {offsetof(adze_weights_header, size),
                    offsetof(adze_weights_header, offset),
                    offsetof(adze_weights_header, weights_size),
                    offsetof(adze_weights_header, id),
                    offsetof(adze_weights_header, checksums_digest),
                    offsetof(adze_weights_header, header_digest)})
    EXPECT_THAT(damaged(at),
                HasSubstr("m.weights: damaged header of a file of weights: "
                          "expected checksum"))
        << at;
  EXPECT_THAT(damaged(ADZE_WEIGHTS_OFFSET),
              HasSubstr("m.weights: damaged weights: bytes [0, 16)"));
  EXPECT_THAT(runWith(read(path("other.weights"))),
              HasSubstr("it belongs to another module"));

  // A valid header whose checksums are not the module's.
  std::string bytes = good;
  adze_weights_header header;
  memcpy(&header, bytes.data(), sizeof(header));
  header.checksums_digest ^= 1;
  header.header_digest =
      xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(&header),
                           offsetof(adze_weights_header, header_digest)));
  memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_THAT(runWith(bytes),
              HasSubstr("expected the checksums of the module's weights, but "
                        "got others: it belongs to another module"));

  // In the format of older versions: without digests, checked by id and block.
  bytes = good;
  uint32_t size = ADZE_WEIGHTS_HEADER_1;
  memcpy(&bytes[offsetof(adze_weights_header, size)], &size, sizeof(size));
  std::fill_n(bytes.begin() + size, sizeof(header) - size, '\0');
  EXPECT_EQ(runWith(bytes), "");
  bytes[offsetof(adze_weights_header, id)] ^= 1;
  EXPECT_THAT(runWith(bytes), HasSubstr("it belongs to another module"));
  bytes[offsetof(adze_weights_header, id)] ^= 1;
  bytes[ADZE_WEIGHTS_OFFSET] ^= 1;
  EXPECT_THAT(runWith(bytes), HasSubstr("damaged weights: bytes [0, 16)"));
}

TEST_F(PackageTest, UndefinedSymbolIsAnErrorAndLeavesNothing) {
  ModuleParts parts = makeParts(
      std::string(program) + "define void @f() { call void @nobody() ret void }"
                             " declare void @nobody()",
      host);
  parts.description.infer = "f"; // otherwise it would not be linked at all
  Error error = writeModule(parts, host, path("m.so"));
  ASSERT_TRUE(bool(error));
  EXPECT_THAT(toString(std::move(error)), testing::HasSubstr("nobody"));
  std::error_code ec;
  EXPECT_EQ(sys::fs::directory_iterator(folder, ec),
            sys::fs::directory_iterator());
}

TEST_F(PackageTest, WeightsThatWriteTooLittleAreAnError) {
  ModuleParts parts = makeParts(program, host);
  addWeight(parts, 0, "weights");
  parts.weights[0].size = 8;
  parts.description.weightsSize = 8;
  Error error = writeModule(parts, host, path("m.so"));
  EXPECT_THAT(toString(std::move(error)),
              testing::HasSubstr("wrote 7 bytes instead of 8"));
}

TEST_F(PackageTest, WeightsObjectIsElf) {
  for (uint32_t machine : {ELF::EM_X86_64, ELF::EM_AARCH64}) {
    std::string bytes;
    raw_string_ostream os(bytes);
    startWeightsObject(os, machine, /*size=*/3, /*sectionSize=*/3);
    os << "abc";
    auto file = object::ELFFile<object::ELF64LE>::create(bytes);
    ASSERT_TRUE(bool(file));
    const auto &section = cantFail(file->sections())[1];
    bool isX86 = machine == ELF::EM_X86_64;
    EXPECT_EQ(cantFail(file->getSectionName(section)),
              isX86 ? largeWeightsSection : weightsSection);
    EXPECT_EQ(bool(section.sh_flags & ELF::SHF_X86_64_LARGE), isX86);
    EXPECT_EQ(section.sh_addralign, 4096u);
    EXPECT_EQ(bytes.substr(section.sh_offset, 3), "abc");
  }
}

} // namespace
