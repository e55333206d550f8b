// What the compiler has to know of operators that are functions of the program:
// the types of inputs and outputs, and how the shapes follow. Each map has the
// sizes of a tensor in symbols of the declaration. A symbol that stands for a
// dim of an input gives others that size; one that no input has is a
// data-dependent size, which the function gives.

#x = affine_map<()[n, c] -> (n, c)>
#row = affine_map<()[n, c] -> (c)>
#positions = affine_map<()[n, c, k] -> (k, 2)>
#values = affine_map<()[n, c, k] -> (k)>

// y = Standardize(x, mean, scale), where scale may be left out.
func.func private @com.example.Standardize(
    tensor<?x?xf32, #x>, tensor<?xf32, #row>, tensor<?xf32, #row> {adze.optional})
    -> tensor<?x?xf32, #x>

// positions, values = Peaks(x): as many as there are.
func.func private @com.example.Peaks(tensor<?x?xf32, #x>)
    -> (tensor<?x2xi64, #positions>, tensor<?xf32, #values>)
