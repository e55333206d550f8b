// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The part of ONNX Runtime's C ABI that the execution provider uses. Tables of
// functions are arrays of pointers that are extended only at their end, so a
// function is identified by its index. Structures that the provider fills have
// the members of API version 23; ONNX Runtime reads only those of
// `ort_version_supported`.
#ifndef ADZE_EP_ORTAPI_H
#define ADZE_EP_ORTAPI_H

#include <cstddef>
#include <cstdint>

extern "C" {

//===----------------------------------------------------------------------===//
// Handles and enumerations
//===----------------------------------------------------------------------===//

struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtGraph;
struct OrtHardwareDevice;
struct OrtKernelContext;
struct OrtKeyValuePairs;
struct OrtLogger;
struct OrtNode;
struct OrtNodeComputeContext;
struct OrtOpAttr;
struct OrtRunOptions;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtValueInfo;

// Enumerations cross the ABI as int.
enum OrtErrorCode : int {
  ORT_FAIL = 1,
  ORT_INVALID_ARGUMENT = 2,
  ORT_RUNTIME_EXCEPTION = 6,
  ORT_NOT_IMPLEMENTED = 9,
  ORT_INVALID_GRAPH = 10,
  ORT_EP_FAIL = 11
};
enum OrtLoggingLevel : int {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3
};
enum OrtHardwareDeviceType : int { OrtHardwareDeviceType_CPU = 0 };
enum ONNXType : int { ONNX_TYPE_TENSOR = 1 };
enum ONNXTensorElementDataType : int {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16,
  // From here on the numbers are not those of TensorProto.DataType.
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 = 24,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 = 25,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0 = 26
};
enum OrtOpAttrType : int {
  ORT_OP_ATTR_UNDEFINED = 0,
  ORT_OP_ATTR_INT = 1,
  ORT_OP_ATTR_INTS = 2,
  ORT_OP_ATTR_FLOAT = 3,
  ORT_OP_ATTR_FLOATS = 4,
  ORT_OP_ATTR_STRING = 5,
  ORT_OP_ATTR_STRINGS = 6,
  ORT_OP_ATTR_GRAPH = 7,
  ORT_OP_ATTR_TENSOR = 8
};
enum OrtCompiledModelCompatibility : int {
  OrtCompiledModelCompatibility_EP_NOT_APPLICABLE = 0,
  OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL = 1,
  OrtCompiledModelCompatibility_EP_UNSUPPORTED = 3
};

//===----------------------------------------------------------------------===//
// Structures that the provider fills
//===----------------------------------------------------------------------===//

struct OrtEp;
struct OrtEpFactory;
struct OrtNodeComputeInfo;

/// The argument of CreateEpFactories.
struct OrtApiBase {
  const void *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)();
};

struct OrtNodeFusionOptions {
  uint32_t ort_version_supported;
  bool drop_constant_initializers;
};

struct OrtNodeComputeInfo {
  uint32_t ort_version_supported;
  OrtStatus *(*CreateState)(OrtNodeComputeInfo *, OrtNodeComputeContext *,
                            void **state);
  OrtStatus *(*Compute)(OrtNodeComputeInfo *, void *state, OrtKernelContext *);
  void (*ReleaseState)(OrtNodeComputeInfo *, void *state);
};

/// A provider of one session. NULL members select ONNX Runtime's default.
struct OrtEp {
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEp *);
  OrtStatus *(*GetCapability)(OrtEp *, const OrtGraph *,
                              OrtEpGraphSupportInfo *);
  OrtStatus *(*Compile)(OrtEp *, const OrtGraph **, const OrtNode **fused,
                        size_t count, OrtNodeComputeInfo **,
                        OrtNode **contexts);
  void (*ReleaseNodeComputeInfos)(OrtEp *, OrtNodeComputeInfo **, size_t count);
  void (*GetPreferredDataLayout)();
  void (*ShouldConvertDataLayoutForOp)();
  void (*SetDynamicOptions)();
  OrtStatus *(*OnRunStart)(OrtEp *, const OrtRunOptions *);
  OrtStatus *(*OnRunEnd)(OrtEp *, const OrtRunOptions *, bool synchronize);
  void (*CreateAllocator)();
  void (*CreateSyncStreamForDevice)();
  const char *(*GetCompiledModelCompatibilityInfo)(OrtEp *, const OrtGraph *);
};

struct OrtEpFactory {
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEpFactory *);
  const char *(*GetVendor)(const OrtEpFactory *);
  OrtStatus *(*GetSupportedDevices)(OrtEpFactory *,
                                    const OrtHardwareDevice *const *devices,
                                    size_t count, OrtEpDevice **found,
                                    size_t capacity, size_t *numFound);
  OrtStatus *(*CreateEp)(OrtEpFactory *, const OrtHardwareDevice *const *,
                         const OrtKeyValuePairs *const *, size_t count,
                         const OrtSessionOptions *, const OrtLogger *,
                         OrtEp **);
  void (*ReleaseEp)(OrtEpFactory *, OrtEp *);
  uint32_t (*GetVendorId)(const OrtEpFactory *);
  const char *(*GetVersion)(const OrtEpFactory *);
  OrtStatus *(*ValidateCompiledModelCompatibilityInfo)(
      OrtEpFactory *, const OrtHardwareDevice *const *, size_t count,
      const char *info, OrtCompiledModelCompatibility *);
  void (*CreateAllocator)();
  void (*ReleaseAllocator)();
  OrtStatus *(*CreateDataTransfer)(OrtEpFactory *, void **transfer);
  bool (*IsStreamAware)(const OrtEpFactory *);
  void (*CreateSyncStreamForDevice)();
};

} // extern "C"

//===----------------------------------------------------------------------===//
// Tables of functions
//===----------------------------------------------------------------------===//

// F(name, index in the table, the first API version that has it, result,
// arguments).
#define ADZE_ORT_API(F)                                                        \
  F(CreateStatus, 0, 1, OrtStatus *, (OrtErrorCode, const char *))             \
  F(GetErrorCode, 1, 1, OrtErrorCode, (const OrtStatus *))                     \
  F(GetErrorMessage, 2, 1, const char *, (const OrtStatus *))                  \
  F(GetTensorMutableData, 51, 1, OrtStatus *, (OrtValue *, void **))           \
  F(CastTypeInfoToTensorInfo, 55, 1, OrtStatus *,                              \
    (const OrtTypeInfo *, const OrtTensorTypeAndShapeInfo **))                 \
  F(GetTensorElementType, 60, 1, OrtStatus *,                                  \
    (const OrtTensorTypeAndShapeInfo *, ONNXTensorElementDataType *))          \
  F(GetDimensionsCount, 61, 1, OrtStatus *,                                    \
    (const OrtTensorTypeAndShapeInfo *, size_t *))                             \
  F(GetDimensions, 62, 1, OrtStatus *,                                         \
    (const OrtTensorTypeAndShapeInfo *, int64_t *, size_t))                    \
  F(GetSymbolicDimensions, 63, 1, OrtStatus *,                                 \
    (const OrtTensorTypeAndShapeInfo *, const char **, size_t))                \
  F(GetTensorShapeElementCount, 64, 1, OrtStatus *,                            \
    (const OrtTensorTypeAndShapeInfo *, size_t *))                             \
  F(GetTensorTypeAndShape, 65, 1, OrtStatus *,                                 \
    (const OrtValue *, OrtTensorTypeAndShapeInfo **))                          \
  F(KernelContext_GetInput, 90, 1, OrtStatus *,                                \
    (const OrtKernelContext *, size_t, const OrtValue **))                     \
  F(KernelContext_GetOutput, 91, 1, OrtStatus *,                               \
    (OrtKernelContext *, size_t, const int64_t *, size_t, OrtValue **))        \
  F(ReleaseStatus, 93, 1, void, (OrtStatus *))                                 \
  F(ReleaseValue, 96, 1, void, (OrtValue *))                                   \
  F(ReleaseTensorTypeAndShapeInfo, 99, 1, void, (OrtTensorTypeAndShapeInfo *)) \
  F(GetStringTensorElementLength, 127, 1, OrtStatus *,                         \
    (const OrtValue *, size_t, size_t *))                                      \
  F(GetStringTensorElement, 128, 1, OrtStatus *,                               \
    (const OrtValue *, size_t, size_t, void *))                                \
  F(CreateOpAttr, 211, 12, OrtStatus *,                                        \
    (const char *, const void *, int, OrtOpAttrType, OrtOpAttr **))            \
  F(ReleaseOpAttr, 212, 12, void, (OrtOpAttr *))                               \
  F(Logger_LogMessage, 247, 15, OrtStatus *,                                   \
    (const OrtLogger *, OrtLoggingLevel, const char *, const char *, int,      \
     const char *))                                                            \
  F(ReadOpAttr, 272, 17, OrtStatus *,                                          \
    (const OrtOpAttr *, OrtOpAttrType, void *, size_t, size_t *))              \
  F(KernelContext_ParallelFor, 274, 17, OrtStatus *,                           \
    (const OrtKernelContext *, void (*)(void *, size_t), size_t, size_t,       \
     void *))                                                                  \
  F(GetValueInfoName, 289, 22, OrtStatus *,                                    \
    (const OrtValueInfo *, const char **))                                     \
  F(GetValueInfoTypeInfo, 290, 22, OrtStatus *,                                \
    (const OrtValueInfo *, const OrtTypeInfo **))                              \
  F(GetModelEditorApi, 291, 22, const void *, ())                              \
  F(GetKeyValuePairs, 298, 22, void,                                           \
    (const OrtKeyValuePairs *, const char *const **, const char *const **,     \
     size_t *))                                                                \
  F(ReleaseKeyValuePairs, 300, 22, void, (OrtKeyValuePairs *))                 \
  F(HardwareDevice_Type, 307, 22, OrtHardwareDeviceType,                       \
    (const OrtHardwareDevice *))                                               \
  F(GetEpApi, 317, 22, const void *, ())                                       \
  F(GetTensorSizeInBytes, 318, 23, OrtStatus *, (const OrtValue *, size_t *))  \
  F(ValueInfo_GetInitializerValue, 326, 23, OrtStatus *,                       \
    (const OrtValueInfo *, const OrtValue **))                                 \
  F(ValueInfo_IsGraphOutput, 330, 23, OrtStatus *,                             \
    (const OrtValueInfo *, bool *))                                            \
  F(ValueInfo_IsConstantInitializer, 331, 23, OrtStatus *,                     \
    (const OrtValueInfo *, bool *))                                            \
  F(Graph_GetName, 333, 23, OrtStatus *, (const OrtGraph *, const char **))    \
  F(Graph_GetModelPath, 334, 23, OrtStatus *,                                  \
    (const OrtGraph *, const char **))                                         \
  F(Graph_GetOnnxIRVersion, 335, 23, OrtStatus *,                              \
    (const OrtGraph *, int64_t *))                                             \
  F(Graph_GetNumOperatorSets, 336, 23, OrtStatus *,                            \
    (const OrtGraph *, size_t *))                                              \
  F(Graph_GetOperatorSets, 337, 23, OrtStatus *,                               \
    (const OrtGraph *, const char **, int64_t *, size_t))                      \
  F(Graph_GetNumInputs, 338, 23, OrtStatus *, (const OrtGraph *, size_t *))    \
  F(Graph_GetInputs, 339, 23, OrtStatus *,                                     \
    (const OrtGraph *, const OrtValueInfo **, size_t))                         \
  F(Graph_GetNumOutputs, 340, 23, OrtStatus *, (const OrtGraph *, size_t *))   \
  F(Graph_GetOutputs, 341, 23, OrtStatus *,                                    \
    (const OrtGraph *, const OrtValueInfo **, size_t))                         \
  F(Graph_GetNumNodes, 344, 23, OrtStatus *, (const OrtGraph *, size_t *))     \
  F(Graph_GetNodes, 345, 23, OrtStatus *,                                      \
    (const OrtGraph *, const OrtNode **, size_t))                              \
  F(Graph_GetParentNode, 346, 23, OrtStatus *,                                 \
    (const OrtGraph *, const OrtNode **))                                      \
  F(Node_GetName, 349, 23, OrtStatus *, (const OrtNode *, const char **))      \
  F(Node_GetOperatorType, 350, 23, OrtStatus *,                                \
    (const OrtNode *, const char **))                                          \
  F(Node_GetDomain, 351, 23, OrtStatus *, (const OrtNode *, const char **))    \
  F(Node_GetNumInputs, 353, 23, OrtStatus *, (const OrtNode *, size_t *))      \
  F(Node_GetInputs, 354, 23, OrtStatus *,                                      \
    (const OrtNode *, const OrtValueInfo **, size_t))                          \
  F(Node_GetNumOutputs, 355, 23, OrtStatus *, (const OrtNode *, size_t *))     \
  F(Node_GetOutputs, 356, 23, OrtStatus *,                                     \
    (const OrtNode *, const OrtValueInfo **, size_t))                          \
  F(Node_GetNumImplicitInputs, 357, 23, OrtStatus *,                           \
    (const OrtNode *, size_t *))                                               \
  F(Node_GetImplicitInputs, 358, 23, OrtStatus *,                              \
    (const OrtNode *, const OrtValueInfo **, size_t))                          \
  F(Node_GetNumAttributes, 359, 23, OrtStatus *, (const OrtNode *, size_t *))  \
  F(Node_GetAttributes, 360, 23, OrtStatus *,                                  \
    (const OrtNode *, const OrtOpAttr **, size_t))                             \
  F(Node_GetAttributeByName, 361, 23, OrtStatus *,                             \
    (const OrtNode *, const char *, const OrtOpAttr **))                       \
  F(OpAttr_GetTensorAttributeAsOrtValue, 362, 23, OrtStatus *,                 \
    (const OrtOpAttr *, OrtValue **))                                          \
  F(OpAttr_GetType, 363, 23, OrtStatus *,                                      \
    (const OrtOpAttr *, OrtOpAttrType *))                                      \
  F(OpAttr_GetName, 364, 23, OrtStatus *, (const OrtOpAttr *, const char **))  \
  F(Node_GetNumSubgraphs, 365, 23, OrtStatus *, (const OrtNode *, size_t *))   \
  F(Node_GetSubgraphs, 366, 23, OrtStatus *,                                   \
    (const OrtNode *, const OrtGraph **, size_t, const char **))               \
  F(Node_GetEpName, 368, 23, OrtStatus *, (const OrtNode *, const char **))    \
  F(GetRunConfigEntry, 373, 23, const char *,                                  \
    (const OrtRunOptions *, const char *))                                     \
  F(GetTensorData, 378, 23, OrtStatus *, (const OrtValue *, const void **))    \
  F(GetSessionOptionsConfigEntries, 379, 23, OrtStatus *,                      \
    (const OrtSessionOptions *, OrtKeyValuePairs **))                          \
  F(TensorTypeAndShape_HasShape, 390, 24, bool,                                \
    (const OrtTensorTypeAndShapeInfo *))                                       \
  F(GetTensorElementTypeAndShapeDataReference, 414, 24, OrtStatus *,           \
    (const OrtValue *, ONNXTensorElementDataType *, const int64_t **,          \
     size_t *))

#define ADZE_ORT_EP_API(F)                                                     \
  F(CreateEpDevice, 0, 22, OrtStatus *,                                        \
    (OrtEpFactory *, const OrtHardwareDevice *, const OrtKeyValuePairs *,      \
     const OrtKeyValuePairs *, OrtEpDevice **))                                \
  F(EpGraphSupportInfo_AddNodesToFuse, 2, 23, OrtStatus *,                     \
    (OrtEpGraphSupportInfo *, const OrtNode *const *, size_t,                  \
     const OrtNodeFusionOptions *))

#define ADZE_ORT_MODEL_EDITOR_API(F)                                           \
  F(CreateNode, 6, 22, OrtStatus *,                                            \
    (const char *, const char *, const char *, const char *const *, size_t,    \
     const char *const *, size_t, OrtOpAttr **, size_t, OrtNode **))

#endif // ADZE_EP_ORTAPI_H
