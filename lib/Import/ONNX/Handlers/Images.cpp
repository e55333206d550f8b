// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Encoded images, which the run time decodes.
#include "../OpTable.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

/// Decodes the bytes of a file to [height, width, channels], whose size is
/// known after decoding.
static LogicalResult importImageDecoder(Binder &b) {
  constexpr llvm::StringLiteral formats[] = {"RGB", "BGR", "Grayscale"};
  llvm::StringRef format = b.getString("pixel_format", "RGB");
  const auto *found = llvm::find(formats, format);
  if (found == std::end(formats))
    return b.fail("expected pixel_format to be RGB, BGR or Grayscale, but got "
                  "'" +
                  format + "'");
  if (b.getRank(b.operand(0)) != 1)
    return b.fail("expected the bytes of an image as one dim");
  int64_t channels = format == "Grayscale" ? 1 : 3;
  mlir::Type byte = b.builder.getIntegerType(8, /*isSigned=*/false);
  Dims dims{mlir::AffineExpr(), mlir::AffineExpr(), b.expr(channels)};
  return b.done(b.callForOne("decode_image",
                             {b.operand(0), b.ints({int64_t(found - formats)})},
                             {byte, dims}));
}

void adze::importer::addImageOps(std::vector<OpRow> &rows) {
  rows.push_back({"ImageDecoder", 20, 1, importImageDecoder});
}
