// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Descriptors of modules that tests write by hand and link.

#ifndef ADZE_TEST_LINKED_MODULE_H
#define ADZE_TEST_LINKED_MODULE_H

#include "adze_module.h"

namespace adze::test {

/// Returns a descriptor of this version of the header, with names only.
inline adze_module_desc makeDescriptor() {
  static const adze_module_row_sizes rows = ADZE_MODULE_ROW_SIZES;
  adze_module_desc desc = {};
  desc.size = sizeof(desc);
  desc.abi = ADZE_MODULE_ABI;
  desc.row_sizes = &rows;
  desc.producer = desc.build_id = desc.model_name = "by hand";
  return desc;
}

} // namespace adze::test

#endif // ADZE_TEST_LINKED_MODULE_H
