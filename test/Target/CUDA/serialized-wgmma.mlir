// ptxas states that it serialized matrix instructions, which is an error, or that it added a
// fence, which is none. A script replaces ptxas.
// RUN: rm -rf %t && mkdir -p %t/bin
// RUN: echo '#!/bin/sh' > %t/bin/ptxas
// RUN: echo 'cat %t/message; while [ "$1" != -o ]; do shift; done; echo code > "$2"' >> %t/bin/ptxas
// RUN: chmod +x %t/bin/ptxas
// RUN: echo "ptxas info    : (C7519) warpgroup.arrive is injected in around line 7 by compiler to allow use of registers in GMMA in function 'copy'" > %t/message
// RUN: env CUDA_HOME=%t cuda-compile --assemble -o %t/cubin %s
// RUN: FileCheck %s --input-file=%t/cubin --check-prefix=CODE
// RUN: echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'copy'" > %t/message
// RUN: not env CUDA_HOME=%t cuda-compile --assemble -o %t/cubin %s 2>&1 | FileCheck %s
// CODE: code
// CHECK: error: ptxas serialised wgmma: {{.*}}insufficient register resources
tile.kernel @copy(%x: memref<256xf32>, %y: memref<256xf32>) {
  %t = tile.load %x[0] sizes [256] : memref<256xf32> -> tensor<256xf32>
  tile.store %t, %y[0] : tensor<256xf32>, memref<256xf32>
  tile.return
}
