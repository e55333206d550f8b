// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The descriptor: the tables of adze_module.h as constants of an LLVM module.
#include "Package/Package.h"
#include "adze_module.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adze::package {

namespace {
/// Builds constant tables. Every table is checked against the size of the C
/// struct, so that a field added to one side only is detected.
class TableBuilder {
public:
  explicit TableBuilder(Module &module)
      : module(module), context(module.getContext()) {}

  Constant *i8(uint8_t v) { return integer(8, v); }
  Constant *i16(uint16_t v) { return integer(16, v); }
  Constant *i32(uint32_t v) { return integer(32, v); }
  Constant *i64(uint64_t v) { return integer(64, v); }
  Constant *f32(float v) { return ConstantFP::get(context, APFloat(v)); }
  Constant *null() { return ConstantPointerNull::get(pointer()); }

  Constant *string(StringRef text) {
    return global(ConstantDataArray::getString(context, text), "str", 1);
  }

  Constant *bytes(StringRef data) {
    if (data.empty())
      return null();
    return global(ConstantDataArray::getString(context, data,
                                               /*AddNull=*/true),
                  "image", 64);
  }

  /// Returns a function of another object, or null for an empty name.
  Constant *function(StringRef name) {
    if (name.empty())
      return null();
    auto *type = FunctionType::get(Type::getVoidTy(context), false);
    auto callee = module.getOrInsertFunction(name, type);
    auto *declaration = cast<Function>(callee.getCallee());
    declaration->setVisibility(GlobalValue::HiddenVisibility);
    return declaration;
  }

  Constant *data(StringRef name) {
    auto *declaration =
        new GlobalVariable(module, Type::getInt8Ty(context), true,
                           GlobalValue::ExternalLinkage, nullptr, name);
    declaration->setVisibility(GlobalValue::HiddenVisibility);
    // The symbol is out of the range of the small code model, so its address is
    // a data word.
    declaration->setCodeModel(CodeModel::Large);
    return declaration;
  }

  template <typename CStruct>
  Constant *table(ArrayRef<Constant *> fields) {
    auto *value = ConstantStruct::getAnon(context, fields);
    uint64_t size = module.getDataLayout().getTypeAllocSize(value->getType());
    if (size != sizeof(CStruct))
      report_fatal_error("descriptor table does not match its C struct");
    return value;
  }

  /// Returns a pointer to consecutive `rows`, or null if there are none.
  Constant *array(ArrayRef<Constant *> rows, StringRef name) {
    if (rows.empty())
      return null();
    auto *type = ArrayType::get(rows.front()->getType(), rows.size());
    return global(ConstantArray::get(type, rows), name, 8);
  }

  GlobalVariable *global(Constant *value, StringRef name, uint64_t align) {
    auto *result = new GlobalVariable(module, value->getType(), true,
                                      GlobalValue::PrivateLinkage, value, name);
    result->setAlignment(Align(align));
    return result;
  }

  PointerType *pointer() { return PointerType::get(context, 0); }

private:
  Constant *integer(unsigned bits, uint64_t v) {
    return ConstantInt::get(IntegerType::get(context, bits), v,
                            /*IsSigned=*/false, /*ImplicitTrunc=*/true);
  }

  Module &module;
  LLVMContext &context;
};
} // namespace

static Constant *makeValues(TableBuilder &b, const std::vector<Value> &values,
                            StringRef name) {
  SmallVector<Constant *> rows;
  for (const Value &value : values) {
    SmallVector<Constant *> dims;
    for (const Dim &dim : value.dims)
      dims.push_back(b.table<adze_module_dim>(
          {b.i64(dim.size), b.i32(dim.symbol), b.i32(0)}));
    rows.push_back(b.table<adze_module_value>(
        {b.string(value.name), b.i8(value.dtypeCode), b.i8(value.dtypeBits),
         b.i16(value.kind), b.i32(value.dims.size()), b.array(dims, "dims")}));
  }
  return b.array(rows, name);
}

static Constant *makeSymbols(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Symbol &symbol : d.symbols)
    rows.push_back(b.table<adze_module_symbol>(
        {b.string(symbol.name), b.i64(symbol.min), b.i64(symbol.max),
         b.i64(symbol.multipleOf)}));
  return b.array(rows, "symbols");
}

static Constant *makeKernels(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Kernel &kernel : d.kernels)
    rows.push_back(b.table<adze_module_kernel>(
        {b.string(kernel.name), b.string(kernel.nodes),
         b.i32(kernel.numPointers), b.i32(kernel.numOutputs),
         b.function(kernel.flops), b.function(kernel.bytesRead),
         b.function(kernel.bytesWritten), b.function(kernel.places),
         b.i32(kernel.firstFault), b.i32(kernel.numFaults)}));
  return b.array(rows, "kernels");
}

static Constant *makeVariants(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const CpuVariant &variant : d.variants) {
    SmallVector<Constant *> kernels;
    for (const CpuKernel &kernel : variant.kernels)
      kernels.push_back(b.table<adze_cpu_kernel>(
          {b.function(kernel.body), b.function(kernel.programs),
           b.function(kernel.scratchBytes)}));
    rows.push_back(b.table<adze_cpu_variant>(
        {b.i64(variant.features), b.string(variant.name),
         b.array(kernels, "cpu_kernels")}));
  }
  return b.array(rows, "variants");
}

static Constant *makeMaps(TableBuilder &b, const DeviceKernel &kernel) {
  SmallVector<Constant *> rows;
  for (const TensorMap &map : kernel.maps) {
    SmallVector<Constant *> fields = {b.i32(map.pointer), b.i32(map.type),
                                      b.i32(map.box.size()),
                                      b.i32(map.rowBytes)};
    for (unsigned dim = 0; dim < ADZE_TENSOR_MAP_RANK; ++dim)
      fields.push_back(b.i32(dim < map.box.size() ? map.box[dim] : 0));
    for (unsigned dim = 0; dim < ADZE_TENSOR_MAP_RANK; ++dim)
      fields.push_back(b.i32(dim < map.steps.size() ? map.steps[dim] : 1));
    rows.push_back(b.table<adze_tensor_map>(fields));
  }
  return b.array(rows, "tensor_maps");
}

static Constant *makeImages(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const DeviceImage &image : d.images) {
    SmallVector<Constant *> kernels;
    for (const DeviceKernel &kernel : image.kernels)
      kernels.push_back(b.table<adze_device_kernel>(
          {kernel.entry.empty() ? b.null() : b.string(kernel.entry),
           b.function(kernel.programs), b.i32(kernel.blockThreads),
           b.i32(kernel.sharedBytes), b.i32(kernel.residentBlocks),
           b.i32(kernel.maps.size()), b.i32(sizeof(adze_tensor_map)),
           b.i32(kernel.flags), makeMaps(b, kernel),
           b.function(kernel.mapValues), b.i32(kernel.mostShared),
           b.i32(kernel.numSymbols), b.i64(kernel.symbolsRead),
           b.function(kernel.bindSymbols)}));
    rows.push_back(b.table<adze_device_image>(
        {b.string(image.target), b.i32(image.sm), b.i32(image.flags),
         b.bytes(image.bytes), b.i64(image.bytes.size()),
         b.array(kernels, "device_kernels")}));
  }
  return b.array(rows, "images");
}

/// Returns the types of containers, or null.
static Constant *makeTypes(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  bool any = false;
  for (const auto *values : {&d.inputs, &d.outputs})
    for (const Value &value : *values) {
      any |= !value.type.empty();
      rows.push_back(value.type.empty() ? b.null() : b.string(value.type));
    }
  return any ? b.array(rows, "types") : b.null();
}

static Constant *makeStrings(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const std::string &text : d.strings)
    rows.push_back(
        b.table<adze_module_string>({b.string(text), b.i64(text.size())}));
  return b.array(rows, "strings");
}

static Constant *makeFaults(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Fault &fault : d.faults)
    rows.push_back(b.table<adze_module_fault>(
        {b.string(fault.node), b.string(fault.message)}));
  return b.array(rows, "faults");
}

static Constant *makeStates(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const State &state : d.states)
    rows.push_back(b.table<adze_state>(
        {b.i32(state.input), b.i32(state.output), b.i32(state.kind),
         b.i32(state.axis), b.i32(state.flags), b.i32(state.pitchSymbol),
         b.function(state.rows), b.function(state.drop)}));
  return b.array(rows, "states");
}

/// Returns the values of an attribute, or null.
static Constant *makeAttributeValues(TableBuilder &b, const Attribute &row) {
  SmallVector<Constant *> values;
  for (int64_t value : row.ints)
    values.push_back(b.i64(value));
  for (float value : row.floats)
    values.push_back(b.f32(value));
  for (const std::string &text : row.strings)
    values.push_back(
        b.table<adze_module_string>({b.string(text), b.i64(text.size())}));
  return b.array(values, "attribute");
}

static Constant *makeOperators(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Operator &row : d.operators) {
    SmallVector<Constant *> inputs, attributes;
    for (int32_t input : row.inputs)
      inputs.push_back(b.i32(input));
    for (const Attribute &attribute : row.attributes) {
      size_t count = attribute.ints.size() + attribute.floats.size() +
                     attribute.strings.size();
      attributes.push_back(b.table<adze_module_attribute>(
          {b.string(attribute.name), b.i32(uint32_t(attribute.kind)), b.i32(0),
           b.i64(count), makeAttributeValues(b, attribute)}));
    }
    rows.push_back(b.table<adze_module_operator>(
        {b.string(row.name), b.string(row.node), b.i32(inputs.size()),
         b.i32(attributes.size()), b.array(inputs, "inputs"),
         b.array(attributes, "attributes")}));
  }
  return b.array(rows, "operators");
}

static Constant *makeDefaults(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Default &row : d.defaults) {
    SmallVector<Constant *> dims;
    for (int64_t dim : row.dims)
      dims.push_back(b.i64(dim));
    rows.push_back(b.table<adze_module_default>(
        {b.i64(row.offset), b.array(dims, "dims")}));
  }
  return b.array(rows, "defaults");
}

static Constant *makeLastRows(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const LastRows &row : d.lastRows)
    rows.push_back(
        b.table<adze_last_rows>({b.i32(row.output), b.i32(row.dim),
                                 b.i32(row.all), b.i32(row.symbol)}));
  return b.array(rows, "last_rows");
}

static Constant *makeTransforms(TableBuilder &b, const ModuleDescription &d) {
  SmallVector<Constant *> rows;
  for (const Transform &row : d.transforms)
    rows.push_back(b.table<adze_module_transform>(
        {b.i64(row.filter), b.i64(row.matrix), b.i64(row.result),
         b.i64(row.outputs), b.i64(row.inputs), b.i64(row.window),
         b.i64(row.rows), b.i64(row.panel), b.i64(row.group),
         b.i8(row.dtypeCode), b.i8(row.dtypeBits), b.i16(0), b.i32(0)}));
  return b.array(rows, "transforms");
}

static Constant *makeRowSizes(TableBuilder &b) {
  const adze_module_row_sizes rows = ADZE_MODULE_ROW_SIZES;
  Constant *sizes = b.table<adze_module_row_sizes>(
      {b.i32(rows.size), b.i32(rows.value), b.i32(rows.dim), b.i32(rows.symbol),
       b.i32(rows.string), b.i32(rows.kernel), b.i32(rows.variant),
       b.i32(rows.cpu_kernel), b.i32(rows.image), b.i32(rows.device_kernel),
       b.i32(rows.fault), b.i32(rows.state), b.i32(rows.host_operator),
       b.i32(rows.attribute), b.i32(rows.default_value), b.i32(rows.last_rows),
       b.i32(rows.transform), b.i32(0)});
  return b.global(sizes, "row_sizes", 4);
}

/// Reserves memory for the checksums of the weights, which are unknown yet; a
/// symbol of the linked file is their position.
static Constant *makeChecksums(TableBuilder &b, const ModuleDescription &d) {
  if (!d.weightsSize)
    return b.null();
  uint64_t blocks = divideCeil(d.weightsSize, ADZE_WEIGHTS_BLOCK);
  // The values are nonzero, so that the data takes up space in the file.
  SmallVector<Constant *> rows(blocks, b.i64(~uint64_t(0)));
  auto *type = ArrayType::get(rows.front()->getType(), blocks);
  GlobalVariable *global =
      b.global(ConstantArray::get(type, rows), checksumsSymbol, 8);
  global->setLinkage(GlobalValue::ExternalLinkage);
  global->setVisibility(GlobalValue::HiddenVisibility);
  return global;
}

/// `weights` and `checksums` are those of the section of the module.
static Constant *makeDescriptor(TableBuilder &b, const ModuleDescription &d,
                                Constant *weights, Constant *checksums) {
  Constant *devices = b.null();
  if (d.devices)
    devices = b.global(makeDescriptor(b, *d.devices, b.null(), b.null()),
                       "devices", 8);
  return b.table<adze_module_desc>(
      {b.i32(sizeof(adze_module_desc)),
       b.i32(ADZE_MODULE_ABI),
       b.string(d.producer),
       b.string(d.buildId),
       b.string(d.modelName),
       b.i32(d.inputs.size()),
       b.i32(d.outputs.size()),
       b.i32(d.symbols.size() - d.numDataSymbols),
       b.i32(d.kernels.size()),
       makeValues(b, d.inputs, "inputs"),
       makeValues(b, d.outputs, "outputs"),
       makeSymbols(b, d),
       makeKernels(b, d),
       b.i32(d.variants.size()),
       b.i32(d.images.size()),
       makeVariants(b, d),
       makeImages(b, d),
       weights,
       b.i64(d.weightsSize),
       b.function(d.run),
       b.function(d.infer),
       b.function(d.arenaBytes),
       b.function(d.arenaLowerBound),
       b.i32(d.numDataSymbols),
       b.i32(d.numBoxes),
       makeTypes(b, d),
       makeStrings(b, d),
       b.i64(d.strings.size()),
       makeRowSizes(b),
       makeFaults(b, d),
       b.i64(d.faults.size()),
       checksums,
       makeStates(b, d),
       b.i64(d.states.size()),
       devices,
       b.i64(d.weightsOffset),
       d.structureId.empty() ? b.null() : b.string(d.structureId),
       makeOperators(b, d),
       b.i64(d.operators.size()),
       makeDefaults(b, d),
       b.i64(d.defaults.size()),
       makeLastRows(b, d),
       b.i64(d.lastRows.size()),
       makeTransforms(b, d),
       b.i64(d.transforms.size()),
       b.i64(d.computedSize)});
}

template <typename T>
static void addNote(std::string &bytes, uint32_t type, const T &content) {
  static_assert(sizeof(T) % 4 == 0, "notes are aligned to 4");
  StringRef owner(ADZE_NOTE_OWNER, sizeof(ADZE_NOTE_OWNER));
  uint32_t header[] = {uint32_t(owner.size()), uint32_t(sizeof(T)), type};
  bytes.append(reinterpret_cast<const char *>(header), sizeof(header));
  bytes.append(owner.begin(), owner.end());
  bytes.resize((bytes.size() + 3) & ~size_t(3));
  bytes.append(reinterpret_cast<const char *>(&content), sizeof(T));
}

/// Creates the note, with zeros that finishNote overwrites.
static void makeNote(Module &module, const ModuleDescription &d,
                     const cpu::CpuTarget &target) {
  adze_module_note note = {};
  note.size = sizeof(note);
  note.abi = ADZE_MODULE_ABI;
  note.machine = target.elfMachine;
  // The host program is compiled for the least demanding variant.
  note.cpu_features =
      d.variants.empty() ? target.moduleFeatures : d.variants.back().features;

  // finishNote searches for the last one.
  std::string bytes;
  if (!d.weightsFile.empty()) {
    adze_module_weights_note weights = {};
    weights.size = sizeof(weights);
    weights.weights_size = d.weightsSize;
    memcpy(weights.id, d.weightsId.data(), sizeof(weights.id));
    d.weightsFile.copy(weights.name, sizeof(weights.name) - 1);
    addNote(bytes, ADZE_NOTE_WEIGHTS, weights);
  }
  addNote(bytes, ADZE_NOTE_TYPE, note);

  Constant *data = ConstantDataArray::getString(module.getContext(), bytes,
                                                /*AddNull=*/false);
  auto *global = new GlobalVariable(module, data->getType(), true,
                                    GlobalValue::PrivateLinkage, data, "note");
  global->setSection(noteSection);
  global->setAlignment(Align(4));
}

/// Creates adze_module_query(abi), which returns the descriptor, or null for
/// another version.
static void makeQuery(Module &module, Constant *descriptor) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(pointer, {Type::getInt32Ty(context)}, false);
  auto *query = Function::Create(type, GlobalValue::ExternalLinkage,
                                 ADZE_MODULE_QUERY, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", query));
  llvm::Value *same =
      builder.CreateICmpEQ(query->getArg(0), builder.getInt32(ADZE_MODULE_ABI));
  builder.CreateRet(builder.CreateSelect(same, descriptor,
                                         ConstantPointerNull::get(pointer)));
}

Error emitDescriptor(const ModuleDescription &description,
                     const cpu::CpuTarget &target,
                     SmallVectorImpl<char> &object) {
  LLVMContext context;
  Module module("adze.descriptor", context);
  TableBuilder builder(module);
  bool isEmbedded = description.weightsSize && description.weightsFile.empty();
  Constant *fields =
      makeDescriptor(builder, description,
                     isEmbedded ? builder.data(weightsSymbol) : builder.null(),
                     makeChecksums(builder, description));
  GlobalVariable *descriptor = builder.global(fields, "descriptor", 8);
  makeQuery(module, descriptor);
  makeNote(module, description, target);
  // The optimiser must keep the unreferenced note.
  SmallVector<GlobalValue *> used = {
      module.getGlobalVariable("note", /*AllowInternal=*/true)};
  auto *list = ArrayType::get(builder.pointer(), used.size());
  auto *keep = new GlobalVariable(
      module, list, false, GlobalValue::AppendingLinkage,
      ConstantArray::get(list, {used.front()}), "llvm.compiler.used");
  keep->setSection("llvm.metadata");
  return cpu::emitObject(module, target, /*optLevel=*/0, object);
}

} // namespace adze::package
