// RUN: not --crash aopt %s --test-inject-crash 2>&1 | FileCheck %s

// CHECK: a crash was asked for
module {}
