"""compile-with.py LIBRARY MODEL CACHE: compiles by a library, with a cache."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
options = ctypes.c_void_p()
assert library.adze_compiler_options_create(ctypes.byref(options)) == 0
assert library.adze_compiler_options_set(options, b"cache", sys.argv[3].encode()) == 0
status = library.adze_compile(sys.argv[2].encode(), sys.argv[3].encode() + b".so", options, None)
library.adze_compiler_options_release(options)
sys.exit(status)
