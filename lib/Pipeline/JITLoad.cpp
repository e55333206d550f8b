// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads object code into this process.
#include "JITLoad.h"
#include "Package/Package.h"
#include "llvm/Support/MemoryBuffer.h"

namespace adze {

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
loadObject(llvm::StringRef object, const cpu::CpuTarget &target) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  for (llvm::StringRef code :
       {package::supportObject(target.elfMachine), object})
    if (llvm::Error error = (*jit)->addObjectFile(
            llvm::MemoryBuffer::getMemBufferCopy(code, "constants")))
      return std::move(error);
  return jit;
}

} // namespace adze
