// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @insert_slice_outside(%x: tensor<2x3xf32>, %d: tensor<2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected sources inside of dim 1 of [2, 8], but got 3 elements at offset 6}}
  %0 = graph.insert_slice %x, %d {axis = 1 : i64, offsets = affine_map<() -> (6)>} : (tensor<2x3xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @insert_slice_overlap(%x: tensor<2x3xf32>, %d: tensor<2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected sources that do not overlap, but got offset 2 before the end at 3}}
  %0 = graph.insert_slice %x, %x, %d {axis = 1 : i64, offsets = affine_map<() -> (2, 0)>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @insert_slice_count(%x: tensor<2x3xf32>, %d: tensor<2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected sources and an offset of symbols for each, but got 1 sources and affine_map<() -> (0, 3)>}}
  %0 = graph.insert_slice %x, %d {axis = 1 : i64, offsets = affine_map<() -> (0, 3)>} : (tensor<2x3xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @insert_slice_dims(%x: tensor<3x3xf32>, %d: tensor<2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal element types and dims but for axis 1}}
  %0 = graph.insert_slice %x, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<3x3xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @insert_slice_axis(%x: tensor<2x3xf32>, %d: tensor<2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis in [0, 2), but got 2}}
  %0 = graph.insert_slice %x, %d {axis = 2 : i64, offsets = affine_map<() -> (0)>} : (tensor<2x3xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}
