// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernel, strides, dilations and pads, with all ways to say them.
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

/// Sizes that a shape can be computed with, without overflow.
static constexpr int64_t kMaxWindow = int64_t(1) << 31;

static LogicalResult checkWindow(Binder &b, const Window &window) {
  for (const auto *list : {&window.kernel, &window.strides, &window.dilations})
    for (int64_t value : *list)
      if (value < 1 || value > kMaxWindow)
        return b.fail("expected kernel, strides and dilations of at least 1, "
                      "but got " +
                      llvm::Twine(value));
  return mlir::failure(b.hasFailed());
}

LogicalResult adze::importer::getFilterWindow(Binder &b, mlir::Value filter,
                                              Window &window) {
  auto type = llvm::cast<mlir::RankedTensorType>(filter.getType());
  auto sizes = type.getShape().drop_front(2);
  if (llvm::is_contained(sizes, mlir::ShapedType::kDynamic))
    return b.unsupported("expected weights with a static kernel, but got " +
                         mlir::debugString(type));
  window.kernel.assign(sizes.begin(), sizes.end());
  auto declared = b.getInts("kernel_shape");
  if (declared && *declared != window.kernel)
    return b.fail(
        "expected kernel_shape to be that of the weights, but got [" +
        llvm::join(llvm::map_range(*declared,
                                   [](int64_t n) { return std::to_string(n); }),
                   ", ") +
        "] for " + mlir::debugString(type));
  window.strides = b.getInts("strides", sizes.size(), 1);
  window.dilations = b.getInts("dilations", sizes.size(), 1);
  return checkWindow(b, window);
}

LogicalResult adze::importer::getPoolWindow(Binder &b, int64_t spatial,
                                            Window &window) {
  if (!b.hasAttribute("kernel_shape"))
    return b.fail("expected attribute 'kernel_shape', but got none");
  window.kernel = b.getInts("kernel_shape", spatial, 1);
  window.strides = b.getInts("strides", spatial, 1);
  window.dilations = b.getInts("dilations", spatial, 1);
  return checkWindow(b, window);
}

/// SAME: as many windows as input / stride, rounded up; the pads are what is
/// missing, split in two.
static LogicalResult addSamePads(Binder &b,
                                 llvm::ArrayRef<mlir::AffineExpr> input,
                                 bool moreAtEnd, Window &window) {
  size_t spatial = window.kernel.size();
  window.pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t stride = window.strides[i], total = reach - 1;
    auto size = input[i + 2] ? graph::getConstant(input[i + 2]) : std::nullopt;
    if (!size && stride != 1)
      return b.unsupported("expected spatial dims to be static with auto_pad "
                           "and a stride, but got a symbolic one");
    if (size)
      total = std::max<int64_t>(
          (llvm::divideCeil(*size, stride) - 1) * stride + reach - *size, 0);
    window.pads[i] = moreAtEnd ? total / 2 : total - total / 2;
    window.pads[spatial + i] = total - window.pads[i];
  }
  return mlir::success();
}

LogicalResult adze::importer::addPads(Binder &b,
                                      llvm::ArrayRef<mlir::AffineExpr> input,
                                      Window &window) {
  size_t spatial = window.kernel.size();
  llvm::StringRef mode = b.getString("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    return addSamePads(b, input, mode == "SAME_UPPER", window);
  if (mode == "VALID") {
    window.pads.assign(2 * spatial, 0);
    return mlir::success();
  }
  if (mode != "NOTSET")
    return b.fail("expected auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or "
                  "VALID, but got '" +
                  mode + "'");
  window.pads = b.getInts("pads", 2 * spatial, 0);
  for (int64_t pad : window.pads)
    if (pad < 0 || pad > kMaxWindow)
      return b.fail("expected pads of at least 0, but got " + llvm::Twine(pad));
  return mlir::failure(b.hasFailed());
}
