// RUN: aopt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected tile.targets to be a list of targets}}
module attributes {tile.targets = [1 : i64]} {
}

// -----

// expected-error @below {{expected vector_bytes of 16, 32 or 64, but got 24}}
module attributes {tile.targets = [#tile.cpu<chip = "x", vector_bytes = 24, caches = [1048576, 33554432]>]} {
}

// -----

// expected-error @below {{expected caches to be the bytes of the second level (at least 65536) and of the last level}}
module attributes {tile.targets = [#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 65536]>]} {
}

// -----

// expected-error @below {{expected flops_per_byte of at least 1, but got 0}}
module attributes {tile.targets = [#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 1048576], flops_per_byte = 0>]} {
}

// -----

// expected-error @below {{expected a group that divides 4, but got 3}}
module attributes {tile.unit = #tile.unit<"dot", i8 * i8 + i32, [1, 16, 4], group = 3>} {
}

// -----

// expected-error @below {{expected a shape of three sizes of at least 1}}
module attributes {tile.unit = #tile.unit<"dot", i8 * i8 + i32, [16, 4]>} {
}

// -----

// expected-error @below {{expected element types, but got 'index'}}
module attributes {tile.unit = #tile.unit<"dot", index * i8 + i32, [1, 16, 4]>} {
}

// -----

// expected-error @below {{expected multiprocessors and shared_bytes of at least 1, but got 0 and 49152}}
module attributes {tile.targets = [#tile.cuda<chip = "x", multiprocessors = 0>]} {
}

// -----

// expected-error @below {{expected tile.targets to be targets of one kind of device}}
module attributes {tile.targets = [#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 33554432]>, #tile.cuda<chip = "sm_80">]} {
}

// -----

// expected-error @below {{expected more stages than inflight (1), but got 1}}
module attributes {tile.gpu = #tile.gpu<warps = [4, 8], stages = 1, inflight = 1, persistent = 16>} {
}

// -----

// expected-error @below {{expected warps of two roles, at least one of each and at most 32}}
module attributes {tile.gpu = #tile.gpu<warps = [4], stages = 2, inflight = 1, persistent = 16>} {
}

// -----

// expected-error @below {{expected tile.schedule to be the schedule of a kernel}}
module attributes {tile.schedule = 1 : i64} {
}

// -----

// expected-error @below {{expected tile.usual_size to be a positive size of a kernel}}
tile.kernel @none() attributes {tile.usual_size = 0 : i64} {
  tile.return
}

// -----

// expected-error @below {{expected 32 to 1024 threads, a power of two, but got 96}}
module attributes {tile.x = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 96>]>} {
}

// -----

// expected-error @below {{expected a split among 1, 2, 4 or 8 blocks of threads, but got 16}}
module attributes {tile.x = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 16>]>} {
}

// -----

// expected-error @below {{expected a schedule of threads to have no operands and no warps of roles}}
module attributes {tile.x = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>], gpu = <warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>} {
}

// -----

// expected-error @below {{expected a schedule of unit 'wgmma' to have the stages and warps of a GPU}}
module attributes {tile.x = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>]>} {
}
