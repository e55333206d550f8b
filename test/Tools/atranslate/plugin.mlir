// Dialects and passes from a library.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s --plugin=%adze_lib/adze-test-plugin.so --stage-passes=graph:plugged-count --emit=graph -o - 2> err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < err
// RUN: atranslate %s --plugin=%adze_lib/adze-test-plugin.so --stage-passes=host:plugged-count --stage-passes=tile:canonicalize,cse -o m.so && arun m.so --random
// CHECK: mark.count = {{[0-9]+}}
// WARNING: warning: {{.*}}the plugin counts {{[0-9]+}} ops

// Without the library both are unknown.
// RUN: not atranslate %s --stage-passes=graph:plugged-count -o m2.so 2>&1 | FileCheck %s --check-prefix=NOPASS
// RUN: atranslate %s --plugin=%adze_lib/no-such.so -o m2.so 2> err; test $? = 2
// RUN: atranslate %s --plugin=%adze_lib/libadze_rt.so -o m2.so 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=NEITHER < err
// RUN: atranslate %s --stage-passes=import:cse -o m2.so 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=STAGE < err
// RUN: not test -e m2.so
// NOPASS: plugged-count
// NEITHER: expected mlirGetPassPluginInfo or mlirGetDialectPluginInfo, but got neither
// STAGE: error: expected --stage-passes=graph, tile, linalg, host or kernel

module {
  func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
    %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
