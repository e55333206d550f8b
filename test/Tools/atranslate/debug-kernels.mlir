// Debugging of a tile kernel: prints, bounds checks, and -O0, which runs each operation
// separately. The results are the same.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: python3 -c "import struct, sys; sys.stdout.buffer.write(struct.pack('12f', *(i / 2 for i in range(12))))" > x.bin
// RUN: atranslate %s -o prints.so
// RUN: arun prints.so --input x=x.bin --shape x=6x2 --output-dir out > out.txt
// RUN: FileCheck %s < out.txt
// RUN: tail -c 48 out/y.npy | od -An -tf4 -v | FileCheck %s --check-prefix=TWICE
// RUN: atranslate %s -o plain.so -O0
// RUN: arun plain.so --input x=x.bin --shape x=6x2 --expect y=out/y.npy | grep '^twice' | sort | FileCheck %s --check-prefix=PLAIN

// Six rows in programs of four.
// CHECK-DAG: {{^}}twice[0] first row: 0{{$}}
// CHECK-DAG: {{^}}twice[1] first row: 4{{$}}
// CHECK-DAG: {{^}}twice[0] x:{{$}}
// CHECK-DAG: {{^}}  0 0.5{{$}}
// CHECK-DAG: {{^}}  5 5.5{{$}}
// Elements of the tile beyond the memory are printed, too.
// CHECK-DAG: {{^}}  0 0{{$}}
// CHECK-DAG: {{^}}twice[1] is small: 0 0 1 1{{$}}
// CHECK-DAG: {{^}}twice[0] small: -1{{$}}

// TWICE: 0 1 2 3
// TWICE-NEXT: 4 5 6 7
// TWICE-NEXT: 8 9 10 11

// PLAIN: twice[0] first row: 0
// PLAIN: twice[1] is small: 0 0 1 1

// A window that begins out of bounds ends the run, with tiles in registers and without.
// The store of row 6 begins where the memory ends.
// RUN: sed 's/%%at = arith.muli %%id, %%rows/%%at = arith.muli %%id, %%six/; /tile.print/d' %s > wrong.mlir
// RUN: atranslate wrong.mlir -o wrong.so
// RUN: arun wrong.so --input x=x.bin --shape x=6x2
// RUN: atranslate wrong.mlir -o checked.so --check-bounds
// RUN: not arun checked.so --input x=x.bin --shape x=6x2 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: atranslate wrong.mlir -o checked.so --check-bounds -O0
// RUN: not arun checked.so --input x=x.bin --shape x=6x2 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: error: node 'twice': tile.load of argument 0 at {{.*}}wrong.mlir:[[#]]:[[#]]: expected an offset of dimension 0 in [0, 6), but got 6
// Without the flag there are no checks.
// RUN: sed '/tile.print/d' %s > right.mlir
// RUN: atranslate right.mlir -o right.so --check-bounds
// RUN: arun right.so --input x=x.bin --shape x=6x2 --expect y=out/y.npy
// A negative offset is printed as a negative number.
// RUN: sed 's/arith.constant 6 : index/arith.constant -3 : index/' wrong.mlir > negative.mlir
// RUN: atranslate negative.mlir -o negative.so --check-bounds
// RUN: not arun negative.so --input x=x.bin --shape x=6x2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: expected an offset of dimension 0 in [0, 6), but got -3

// GPUs do not print: the kernel runs on the CPU, or is rejected.
// RUN: not atranslate %s -o gpu.so --target=cuda:sm_90a 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: error: {{.*}}kernel 'twice' has no code for cuda:sm_90a: expected no tile.print, which prints on CPUs
// RUN: atranslate %s -o both.so --target=cuda:sm_90a --target=cpu --allow-host-fallback
// RUN: env LD_LIBRARY_PATH=%fake_cuda arun both.so --device cuda:0 --input x=x.bin --shape x=6x2 --expect y=out/y.npy | grep '^twice' | sort | FileCheck %s --check-prefix=PLAIN

#rows = affine_map<()[s0] -> (s0, 2)>
!m = memref<?x2xf32>
!t = tensor<?x?xf32>

tile.kernel @twice(%x: !m {adze.dims = #rows}, %y: !m {adze.dims = #rows})
    attributes {tile.params = {ROWS = 4 : i64}} {
  %rows = tile.param "ROWS" : index
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %six = arith.constant 6 : index
  %n = memref.dim %x, %c0 : !m
  %grid = arith.ceildivui %n, %rows : index
  %id = tile.program_id (%grid) : index
  %at = arith.muli %id, %rows : index
  tile.print "first row", %at : index
  %t = tile.load %x[%at, 0] sizes [%rows, %c2] : !m -> !t
  tile.print "x", %t : !t
  %sum = tile.reduce add %t dim 1 : !t -> tensor<?xf32>
  %e = arith.constant 0.25 : f32
  %es = tile.broadcast %e to [%rows] : f32 -> tensor<?xf32>
  %small = arith.cmpf olt, %sum, %es : tensor<?xf32>
  tile.print "is small", %small : tensor<?xi1>
  %byte = arith.constant -1 : i8
  tile.print "small", %byte : i8
  %d = arith.addf %t, %t : !t
  tile.store %d, %y[%at, 0] : !t, !m
  tile.return
}

func.func @main(%x: tensor<?x2xf32, #rows> {graph.name = "x"}) -> (tensor<?x2xf32, #rows> {graph.name = "y"})
    attributes {graph.symbols = ["n"]} {
  %y = host.launch @twice(%x) : (tensor<?x2xf32, #rows>) -> tensor<?x2xf32, #rows>
  return %y : tensor<?x2xf32, #rows>
}
