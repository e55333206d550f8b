// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The description of a module: the tables of adze_module.h with owning
// containers, and functions given by the names of their symbols.
#ifndef ADZE_PACKAGE_MODULEDESCRIPTION_H
#define ADZE_PACKAGE_MODULEDESCRIPTION_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace adze::package {

struct Dim {
  int64_t size = 0;    // -1: dynamic
  int32_t symbol = -1; // of a dynamic dim of an input
};

struct Value {
  std::string name;
  uint8_t dtypeCode = 0, dtypeBits = 0; // those of DLPack
  llvm::SmallVector<Dim, 4> dims;
  uint16_t kind = 0;     // adze_kind
  std::string type = {}; // of a container: in ONNX syntax
};

struct Symbol {
  std::string name;
  int64_t min = 0, max = -1, multipleOf = 1;
};

/// The symbols of `int64_t f(const int64_t *syms)`; empty: unknown.
struct Kernel {
  std::string name;
  std::string nodes; // ONNX nodes, separated by '\n'
  uint32_t numPointers = 0, numOutputs = 0;
  std::string flops, bytesRead, bytesWritten;
  std::string places; // `void f(const int64_t *syms, int64_t *bytes)`
  uint32_t firstFault = 0, numFaults = 0; // of ModuleDescription::faults
};

struct CpuKernel {
  std::string body, programs, scratchBytes; // only scratchBytes may be empty
};

struct CpuVariant {
  uint64_t features = 0;
  std::string name;
  std::vector<CpuKernel> kernels; // as many as ModuleDescription::kernels
};

struct TensorMap {
  uint32_t pointer = 0, type = 0, rowBytes = 0;
  llvm::SmallVector<uint32_t, 5> box, steps; // innermost first
};

struct DeviceKernel {
  std::string entry; // empty: not in this image
  std::string programs;
  uint32_t blockThreads = 0, sharedBytes = 0, residentBlocks = 0, flags = 0,
           mostShared = 0, numSymbols = 0;
  uint64_t symbolsRead = 0; // 0: unknown
  std::vector<TensorMap> maps;
  /// `void f(const int64_t *syms, int64_t *values)`, or empty
  std::string mapValues, bindSymbols;
};

struct DeviceImage {
  std::string target; // "cuda:sm_90a"
  uint32_t sm = 0, flags = 0;
  std::string bytes;
  std::vector<DeviceKernel> kernels; // as many as ModuleDescription::kernels
};

/// A source of a fault at run time.
struct Fault {
  std::string node;    // ONNX nodes, separated by '\n'
  std::string message; // {0}, {1}, {2}: the values of the record
};

/// An output that updates the state of an input.
struct State {
  uint32_t input = 0, output = 0, kind = 0, axis = 0, flags = 0;
  int32_t pitchSymbol = -1;
  std::string rows, drop; // functions of the symbols
};

/// An output whose caller chooses the number of rows, along a dim.
struct LastRows {
  uint32_t output = 0, dim = 0;
  int32_t all = -1, symbol = -1;
};

/// The values of adze_attribute_kind.
enum class AttributeKind : uint32_t {
  Int,
  Float,
  String,
  Ints,
  Floats,
  Strings
};

/// An attribute of a node: integers, floats or strings.
struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::Int;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
};

/// A node whose operator is implemented by the program that runs the module.
struct Operator {
  std::string name, node;
  // Indices of the operands of the call; -1: omitted.
  std::vector<int32_t> inputs;
  std::vector<Attribute> attributes;
};

/// The default value of an overridable weight.
struct Default {
  uint64_t offset = 0; // in the weights
  std::vector<int64_t> dims;
};

/// Weights that the run time computes: the windows of a filter multiplied by a
/// matrix (adze_module_transform).
struct Transform {
  uint64_t filter = 0, matrix = 0; // in the weights
  uint64_t result = 0;             // in the computed weights
  uint64_t outputs = 0, inputs = 0, window = 0, rows = 0;
  uint64_t panel = 0, group = 0;
  uint8_t dtypeCode = 0, dtypeBits = 0;
};

struct ModuleDescription {
  std::string producer, buildId, modelName;
  /// Digest of the code and of the offsets of the weights, or "".
  std::string structureId;
  std::vector<Value> inputs, outputs;
  /// The last numDataSymbols of these are bound during a run.
  std::vector<Symbol> symbols;
  uint32_t numDataSymbols = 0, numBoxes = 0;
  std::vector<std::string> strings; // the first ones of the table of strings
  std::vector<Kernel> kernels;
  std::vector<CpuVariant> variants; // best first
  std::vector<DeviceImage> images;
  std::vector<Fault> faults;
  std::vector<State> states;
  std::vector<Operator> operators;
  std::vector<Default> defaults; // of the last inputs
  std::vector<LastRows> lastRows;
  std::vector<Transform> transforms;
  uint64_t weightsSize = 0, computedSize = 0;
  /// Name and digest of the file with the weights; empty: in the module.
  std::string weightsFile, weightsId;
  std::string run, infer, arenaBytes, arenaLowerBound;
  /// The program for devices, whose weights begin at weightsOffset of those of
  /// this program; null for a single program.
  std::unique_ptr<ModuleDescription> devices;
  uint64_t weightsOffset = 0;
};

} // namespace adze::package

#endif // ADZE_PACKAGE_MODULEDESCRIPTION_H
