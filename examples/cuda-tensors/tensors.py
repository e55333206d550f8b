# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The same in Python: tensors of PyTorch, CuPy or Adze stay on the device and are
passed by DLPack without copies."""

import sys

import adze
import numpy

library = sys.argv[2] if len(sys.argv) > 2 else "adze"
module = adze.load(sys.argv[1], device="cuda:0")
if library == "torch":
    import torch

    x = torch.ones((2, 4), device="cuda")
    y = torch.ones((2, 4), device="cuda")
elif library == "cupy":
    import cupy

    x = cupy.ones((2, 4), cupy.float32)
    y = cupy.ones((2, 4), cupy.float32)
else:
    x = numpy.ones((2, 4), numpy.float32)  # copied by the first run
    y = numpy.ones((2, 4), numpy.float32)

for _ in range(9):
    x = module(x, y, like=library)[0]
print(type(x).__module__.split(".")[0], tuple(x.shape), "on", x.__dlpack_device__())

# numpy arrays as outputs: the run copies to them.
total = module(x, y, like="numpy")
print(f"after 10 steps: sum {total[0][0, 0]:g}, total {total[1][0]:g}")
