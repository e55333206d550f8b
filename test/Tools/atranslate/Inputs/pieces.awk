# y: n adjacent pieces, z: those above 0. Each is the first columns of x, as
# many as `ends` says; or, with inputs=1, an input of a size of its own.
BEGIN {
  print "<ir_version: 10, opset_import: [\"\": 18]>"
  for (i = 0; i < n; ++i) {
    p = p (i ? ", " : "") (inputs ? "x" : "p") i
    q = q (i ? ", " : "") "q" i
    e = e (i ? ", " : "") (inputs ? "float[n" i "] x" : "e") i
  }
  print "g (" (inputs ? e : "float[3,7] x, int64[" n "] ends") ") => (float[" (inputs ? "" : "3,") "S] y, float[" (inputs ? "" : "3,") "S] z)"
  print "<int64[1] zero = {0}, int64[1] one = {1}> {"
  if (!inputs)
    print "  " e " = Split <num_outputs = " n "> (ends)"
  for (i = 0; i < n; ++i) {
    if (!inputs)
      print "  p" i " = Slice (x, zero, e" i ", one)"
    print "  q" i " = Relu (" (inputs ? "x" : "p") i ")"
  }
  print "  y = Concat <axis = " (inputs ? 0 : 1) "> (" p ")"
  print "  z = Concat <axis = " (inputs ? 0 : 1) "> (" q ")"
  print "}"
}
