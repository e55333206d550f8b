// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @hash() -> tensor<320xf32> {
  // expected-error @+1 {{blob: expected hash 00000000000000000000000000000000 of}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "00000000000000000000000000000000"> : tensor<320xf32>
  return %0 : tensor<320xf32>
}

// -----

func.func @missing() -> tensor<320xf32> {
  // expected-error @+1 {{blob: cannot open}}
  %0 = graph.constant #graph.blob<"Inputs/nothing.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  return %0 : tensor<320xf32>
}

// -----

func.func @short() -> tensor<320xf32> {
  // expected-error @+1 {{blob: expected 3280 bytes in}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 2000, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  return %0 : tensor<320xf32>
}

// -----

func.func @overflow() -> tensor<320xf32> {
  // expected-error @+1 {{blob: expected an offset and size below 2^64}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 18446744073709551615, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<320xf32>
  return %0 : tensor<320xf32>
}

// -----

func.func @size() -> tensor<321xf32> {
  // expected-error @+1 {{blob: expected 1284 bytes for 'tensor<321xf32>', but got 1280}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<321xf32>
  return %0 : tensor<321xf32>
}

// -----

func.func @digits() -> tensor<320xf32> {
  // expected-error @+1 {{blob: expected a hash of 32 hexadecimal digits}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08"> : tensor<320xf32>
  return %0 : tensor<320xf32>
}

// -----

func.func @element() -> tensor<160xindex> {
  // expected-error @+1 {{blob: expected a static shape of integers or floats, but got 'tensor<160xindex>'}}
  %0 = graph.constant #graph.blob<"Inputs/blob.bin", 0, 1280, "227afd08caeecf61c134fb746ffdbd43"> : tensor<160xindex>
  return %0 : tensor<160xindex>
}
