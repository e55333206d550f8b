// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Identifies files that are not ONNX models by their first bytes.
#include "Wire.h"

using namespace adze::importer;

llvm::StringRef adze::importer::describeForeignFile(llvm::StringRef bytes) {
  struct Format {
    size_t offset;
    llvm::StringRef magic, text;
  };
  static constexpr Format formats[] = {
      {0, "version https://git-lfs",
       "a pointer of Git LFS; git lfs pull gets the file itself"},
      {4, "ORTM",
       "a model in ONNX Runtime's own format; save it as ONNX, with "
       "session.save_model_format=ONNX"},
      {4, "TFL3", "a model of TensorFlow Lite; tf2onnx --tflite converts it"},
      {0, "PK\x03\x04",
       "a ZIP archive, such as a checkpoint of PyTorch; export the model with "
       "torch.onnx.export, or unpack it"},
      {0, "\x1f\x8b", "a file that gzip has packed; unpack it"},
      {0, "\x89HDF", "an HDF5 file, as Keras writes it; tf2onnx converts it"},
      {0, "<!DOCTYPE", "an HTML page; download the file itself"},
      {0, "<!doctype", "an HTML page; download the file itself"},
      {0, "<html", "an HTML page; download the file itself"},
      {0, "<?xml",
       "an XML file, such as OpenVINO writes; the model has to be ONNX"},
  };
  if (bytes.empty())
    return "an empty file";
  for (const Format &format : formats)
    if (bytes.drop_front(std::min(bytes.size(), format.offset))
            .starts_with(format.magic))
      return format.text;
  return "";
}
