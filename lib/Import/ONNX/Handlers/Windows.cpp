// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernel, strides, dilations and pads, in all forms of attributes.
#include "Windows.h"
#include "../DataShapes.h"
#include "../Sizes.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;

/// The limit of sizes, so that shape arithmetic does not overflow.
static constexpr int64_t kMaxWindow = int64_t(1) << 31;

static LogicalResult checkWindow(Binder &b, const Window &window) {
  for (const auto *list : {&window.kernel, &window.strides, &window.dilations})
    for (int64_t value : *list) {
      // Only the dims of a filter can be unknown: an attribute may be any
      // number, including the one that represents unknown dims.
      if (list == &window.kernel && window.filter &&
          mlir::ShapedType::isDynamic(value))
        continue;
      if (value < 1 || value > kMaxWindow)
        return b.fail("expected kernel, strides and dilations in [1, 2^31], "
                      "but got " +
                      llvm::Twine(value));
    }
  return mlir::failure(b.hasFailed());
}

LogicalResult adze::importer::getFilterWindow(Binder &b, mlir::Value &filter,
                                              Window &window) {
  if (b.getRank(filter) < 2)
    return b.fail("expected weights of at least 2 dims, but got " +
                  llvm::Twine(b.getRank(filter)));
  size_t spatial = b.getRank(filter) - 2;
  auto declared = b.getInts("kernel_shape");
  if (declared && declared->size() == spatial) {
    Dims wanted(2);
    for (int64_t size : *declared)
      wanted.push_back(b.expr(size));
    filter = b.refine(filter, wanted);
  } else if (declared) {
    return b.fail("expected " + llvm::Twine(spatial) +
                  " numbers in kernel_shape, but got " +
                  llvm::Twine(declared->size()));
  }
  if (b.hasFailed())
    return mlir::failure();
  auto type = llvm::cast<mlir::RankedTensorType>(filter.getType());
  auto sizes = type.getShape().drop_front(2);
  window.kernel.assign(sizes.begin(), sizes.end());
  window.filter = filter;
  window.strides = b.getInts("strides", sizes.size(), 1);
  window.dilations = b.getInts("dilations", sizes.size(), 1);
  return checkWindow(b, window);
}

LogicalResult adze::importer::getPoolWindow(Binder &b, int64_t spatial,
                                            Window &window) {
  auto kernel = b.getInts("kernel_shape");
  if (!kernel || int64_t(kernel->size()) != spatial)
    return b.fail("expected " + llvm::Twine(spatial) +
                  " numbers in attribute 'kernel_shape', but got " +
                  llvm::Twine(kernel ? kernel->size() : 0));
  window.kernel = *kernel;
  window.strides = b.getInts("strides", spatial, 1);
  window.dilations = b.getInts("dilations", spatial, 1);
  return checkWindow(b, window);
}

mlir::Value adze::importer::getReach(Binder &b, const Window &window) {
  Sizes s(b);
  mlir::Value kernel = s.vector(window.kernel);
  if (!window.hasKnownKernel())
    kernel =
        b.slice(s.shape(window.filter), 0, 2, b.expr(window.kernel.size()));
  return s.add(s.mul(s.sub(kernel, s.number(1)), s.vector(window.dilations)),
               s.number(1));
}

/// Adds SAME pads of dynamic sizes.
static LogicalResult addSamePadsByData(Binder &b, mlir::Value &input,
                                       bool moreAtEnd, Window &window,
                                       mlir::Value fill) {
  Sizes s(b);
  int64_t spatial = window.kernel.size();
  mlir::Value size = b.slice(s.shape(input), 0, 2, b.expr(spatial)),
              strides = s.vector(window.strides), one = s.number(1);
  mlir::Value count = s.div(s.sub(s.add(size, strides), one), strides);
  mlir::Value covered =
      s.add(s.mul(s.sub(count, one), strides), getReach(b, window));
  mlir::Value total = s.max(s.sub(covered, size), s.number(0));
  mlir::Value half = s.div(total, s.number(2)), rest = s.sub(total, half);
  mlir::Value pads =
      moreAtEnd ? s.concat({half, rest}) : s.concat({rest, half});
  mlir::Value axes =
      s.vector(llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2)));
  input = padByData(b, input, pads, axes, fill, graph::PadMode::Constant);
  window.pads.assign(2 * spatial, 0);
  return mlir::failure(b.hasFailed());
}

/// With SAME there are input / stride windows, rounded up; the missing elements
/// are split between both ends.
static LogicalResult addSamePads(Binder &b, mlir::Value &input, bool moreAtEnd,
                                 Window &window, mlir::Value fill) {
  size_t spatial = window.kernel.size();
  Dims dims = graph::getDims(input);
  window.pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    auto size = graph::getConstant(dims[i + 2]);
    int64_t stride = window.strides[i];
    if (!window.hasKnownKernel() || (!size && stride != 1))
      return addSamePadsByData(b, input, moreAtEnd, window, fill);
    int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total = reach - 1;
    if (size)
      // The difference is small, but the sum may overflow.
      total = std::max<int64_t>(
          (llvm::divideCeil(*size, stride) - 1) * stride - *size + reach, 0);
    window.pads[i] = moreAtEnd ? total / 2 : total - total / 2;
    window.pads[spatial + i] = total - window.pads[i];
  }
  return mlir::success();
}

LogicalResult adze::importer::addPads(Binder &b, mlir::Value &input,
                                      Window &window, mlir::Value fill) {
  size_t spatial = window.kernel.size();
  llvm::StringRef mode = b.getString("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    return addSamePads(b, input, mode == "SAME_UPPER", window, fill);
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
