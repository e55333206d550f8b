// Right operands of dots that many blocks of rows read: copied to panels once per
// program, or once per part of the depth if that is dynamic.

#mk = affine_map<()[s0, s1, s2] -> (s0, s2)>
#kn = affine_map<()[s0, s1, s2] -> (s2, s1)>
#nk = affine_map<()[s0, s1, s2] -> (s1, s2)>
#mn = affine_map<()[s0, s1, s2] -> (s0, s1)>
#n = affine_map<()[s0, s1, s2] -> (s1)>

tile.kernel @staged(%a: memref<37x45xf32>, %b: memref<45x75xf32>, %v: memref<75xf32>, %y: memref<37x75xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 24 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 16 : index
  %m = memref.dim %a, %c0 : memref<37x45xf32>
  %k = memref.dim %a, %c1 : memref<37x45xf32>
  %n = memref.dim %y, %c1 : memref<37x75xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [24, 64] : f32 -> tensor<24x64xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<24x64xf32> {
    %ta = tile.load %a[%row, %i] sizes [24, 16] : memref<37x45xf32> -> tensor<24x16xf32>
    %tb = tile.load %b[%i, %col] sizes [16, 64] : memref<45x75xf32> -> tensor<16x64xf32>
    %d = tile.dot %ta, %tb, %s : tensor<24x16xf32>, tensor<16x64xf32>, tensor<24x64xf32>
    scf.yield %d : tensor<24x64xf32>
  }
  %bias = tile.load %v[%col] sizes [64] : memref<75xf32> -> tensor<64xf32>
  %rows = tile.broadcast %bias to [24, 64] dims [1] : tensor<64xf32> -> tensor<24x64xf32>
  %h = arith.addf %acc, %rows : tensor<24x64xf32>
  %r = arith.maximumf %h, %zero : tensor<24x64xf32>
  tile.store %r, %y[%row, %col] : tensor<24x64xf32>, memref<37x75xf32>
  tile.return
}

tile.kernel @staged_transposed(%a: memref<37x45xf32>, %b: memref<75x45xf32>, %v: memref<75xf32>, %y: memref<37x75xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 24 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 16 : index
  %m = memref.dim %a, %c0 : memref<37x45xf32>
  %k = memref.dim %a, %c1 : memref<37x45xf32>
  %n = memref.dim %y, %c1 : memref<37x75xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [24, 64] : f32 -> tensor<24x64xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<24x64xf32> {
    %ta = tile.load %a[%row, %i] sizes [24, 16] : memref<37x45xf32> -> tensor<24x16xf32>
    %tb = tile.load %b[%col, %i] sizes [16, 64] dims [1, 0] : memref<75x45xf32> -> tensor<16x64xf32>
    %d = tile.dot %ta, %tb, %s : tensor<24x16xf32>, tensor<16x64xf32>, tensor<24x64xf32>
    scf.yield %d : tensor<24x64xf32>
  }
  %bias = tile.load %v[%col] sizes [64] : memref<75xf32> -> tensor<64xf32>
  %rows = tile.broadcast %bias to [24, 64] dims [1] : tensor<64xf32> -> tensor<24x64xf32>
  %h = arith.addf %acc, %rows : tensor<24x64xf32>
  %r = arith.maximumf %h, %zero : tensor<24x64xf32>
  tile.store %r, %y[%row, %col] : tensor<24x64xf32>, memref<37x75xf32>
  tile.return
}

tile.kernel @staged_part_panel(%a: memref<37x45xf32>, %b: memref<45x75xf32>, %v: memref<75xf32>, %y: memref<37x75xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 24 : index
  %bn = arith.constant 40 : index
  %bk = arith.constant 45 : index
  %m = memref.dim %a, %c0 : memref<37x45xf32>
  %k = memref.dim %a, %c1 : memref<37x45xf32>
  %n = memref.dim %y, %c1 : memref<37x75xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [24, 40] : f32 -> tensor<24x40xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<24x40xf32> {
    %ta = tile.load %a[%row, %i] sizes [24, 45] : memref<37x45xf32> -> tensor<24x45xf32>
    %tb = tile.load %b[%i, %col] sizes [45, 40] : memref<45x75xf32> -> tensor<45x40xf32>
    %d = tile.dot %ta, %tb, %s : tensor<24x45xf32>, tensor<45x40xf32>, tensor<24x40xf32>
    scf.yield %d : tensor<24x40xf32>
  }
  %bias = tile.load %v[%col] sizes [40] : memref<75xf32> -> tensor<40xf32>
  %rows = tile.broadcast %bias to [24, 40] dims [1] : tensor<40xf32> -> tensor<24x40xf32>
  %h = arith.addf %acc, %rows : tensor<24x40xf32>
  %r = arith.maximumf %h, %zero : tensor<24x40xf32>
  tile.store %r, %y[%row, %col] : tensor<24x40xf32>, memref<37x75xf32>
  tile.return
}

tile.kernel @depth(%a: memref<?x?xf32> {adze.dims = #mk}, %b: memref<?x?xf32> {adze.dims = #kn}, %v: memref<?xf32> {adze.dims = #n}, %y: memref<?x?xf32> {adze.dims = #mn}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 24 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 8 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [24, 64] : f32 -> tensor<24x64xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<24x64xf32> {
    %ta = tile.load %a[%row, %i] sizes [24, 8] : memref<?x?xf32> -> tensor<24x8xf32>
    %tb = tile.load %b[%i, %col] sizes [8, 64] : memref<?x?xf32> -> tensor<8x64xf32>
    %d = tile.dot %ta, %tb, %s : tensor<24x8xf32>, tensor<8x64xf32>, tensor<24x64xf32>
    scf.yield %d : tensor<24x64xf32>
  }
  %bias = tile.load %v[%col] sizes [64] : memref<?xf32> -> tensor<64xf32>
  %rows = tile.broadcast %bias to [24, 64] dims [1] : tensor<64xf32> -> tensor<24x64xf32>
  %h = arith.addf %acc, %rows : tensor<24x64xf32>
  %r = arith.maximumf %h, %zero : tensor<24x64xf32>
  tile.store %r, %y[%row, %col] : tensor<24x64xf32>, memref<?x?xf32>
  tile.return
}

tile.kernel @depth_transposed(%a: memref<?x?xf32> {adze.dims = #mk}, %b: memref<?x?xf32> {adze.dims = #nk}, %v: memref<?xf32> {adze.dims = #n}, %y: memref<?x?xf32> {adze.dims = #mn}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 24 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 8 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [24, 64] : f32 -> tensor<24x64xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<24x64xf32> {
    %ta = tile.load %a[%row, %i] sizes [24, 8] : memref<?x?xf32> -> tensor<24x8xf32>
    %tb = tile.load %b[%col, %i] sizes [8, 64] dims [1, 0] : memref<?x?xf32> -> tensor<8x64xf32>
    %d = tile.dot %ta, %tb, %s : tensor<24x8xf32>, tensor<8x64xf32>, tensor<24x64xf32>
    scf.yield %d : tensor<24x64xf32>
  }
  %bias = tile.load %v[%col] sizes [64] : memref<?xf32> -> tensor<64xf32>
  %rows = tile.broadcast %bias to [24, 64] dims [1] : tensor<64xf32> -> tensor<24x64xf32>
  %h = arith.addf %acc, %rows : tensor<24x64xf32>
  %r = arith.maximumf %h, %zero : tensor<24x64xf32>
  tile.store %r, %y[%row, %col] : tensor<24x64xf32>, memref<?x?xf32>
  tile.return
}

tile.kernel @depth_computed(%a: memref<?x?xf32> {adze.dims = #mk}, %b: memref<?x?xi8> {adze.dims = #kn}, %v: memref<?xf32> {adze.dims = #n}, %y: memref<?x?xf32> {adze.dims = #mn}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 16 : index
  %bn = arith.constant 24 : index
  %bk = arith.constant 5 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [16, 24] : f32 -> tensor<16x24xf32>
  %acc = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero) -> tensor<16x24xf32> {
    %ta = tile.load %a[%row, %i] sizes [16, 5] : memref<?x?xf32> -> tensor<16x5xf32>
    %tb = tile.load %b[%i, %col] sizes [5, 24] : memref<?x?xi8> -> tensor<5x24xi8>
    %tf = arith.sitofp %tb : tensor<5x24xi8> to tensor<5x24xf32>
    %scale = tile.load %v[%col] sizes [24] : memref<?xf32> -> tensor<24xf32>
    %wide = tile.broadcast %scale to [5, 24] dims [1] : tensor<24xf32> -> tensor<5x24xf32>
    %tw = arith.mulf %tf, %wide : tensor<5x24xf32>
    %d = tile.dot %ta, %tw, %s : tensor<16x5xf32>, tensor<5x24xf32>, tensor<16x24xf32>
    scf.yield %d : tensor<16x24xf32>
  }
  %bias = tile.load %v[%col] sizes [24] : memref<?xf32> -> tensor<24xf32>
  %rows = tile.broadcast %bias to [16, 24] dims [1] : tensor<24xf32> -> tensor<16x24xf32>
  %h = arith.addf %acc, %rows : tensor<16x24xf32>
  %r = arith.maximumf %h, %zero : tensor<16x24xf32>
  tile.store %r, %y[%row, %col] : tensor<16x24xf32>, memref<?x?xf32>
  tile.return
}

tile.kernel @depth_gate(%a: memref<?x?xf32> {adze.dims = #mk}, %b: memref<?x?xf32> {adze.dims = #kn}, %g: memref<?x?xf32> {adze.dims = #kn}, %v: memref<?xf32> {adze.dims = #n}, %y: memref<?x?xf32> {adze.dims = #mn}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 20 : index
  %bn = arith.constant 32 : index
  %bk = arith.constant 8 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [20, 32] : f32 -> tensor<20x32xf32>
  %acc:2 = scf.for %i = %c0 to %k step %bk iter_args(%s = %zero, %u = %zero) -> (tensor<20x32xf32>, tensor<20x32xf32>) {
    %ta = tile.load %a[%row, %i] sizes [20, 8] : memref<?x?xf32> -> tensor<20x8xf32>
    %tb = tile.load %b[%i, %col] sizes [8, 32] : memref<?x?xf32> -> tensor<8x32xf32>
    %d = tile.dot %ta, %tb, %s : tensor<20x8xf32>, tensor<8x32xf32>, tensor<20x32xf32>
    %tg = tile.load %g[%i, %col] sizes [8, 32] : memref<?x?xf32> -> tensor<8x32xf32>
    %e = tile.dot %ta, %tg, %u : tensor<20x8xf32>, tensor<8x32xf32>, tensor<20x32xf32>
    scf.yield %d, %e : tensor<20x32xf32>, tensor<20x32xf32>
  }
  %bias = tile.load %v[%col] sizes [32] : memref<?xf32> -> tensor<32xf32>
  %rows = tile.broadcast %bias to [20, 32] dims [1] : tensor<32xf32> -> tensor<20x32xf32>
  %q = arith.mulf %acc#0, %acc#1 : tensor<20x32xf32>
  %h = arith.addf %q, %rows : tensor<20x32xf32>
  %r = arith.maximumf %h, %zero : tensor<20x32xf32>
  tile.store %r, %y[%row, %col] : tensor<20x32xf32>, memref<?x?xf32>
  tile.return
}
