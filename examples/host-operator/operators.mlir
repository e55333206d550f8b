// Declarations of operators that are functions of the program: the types of inputs
// and outputs, and their shapes. Each map gives the sizes of a tensor in symbols of
// the declaration. A symbol that is a dim of an input has the size of that dim; a
// symbol of outputs alone is a data-dependent size, which the function returns.

#x = affine_map<()[n, c] -> (n, c)>
#row = affine_map<()[n, c] -> (c)>
#positions = affine_map<()[n, c, k] -> (k, 2)>
#values = affine_map<()[n, c, k] -> (k)>

// y = Standardize(x, mean, scale), where scale is optional.
func.func private @com.example.Standardize(
    tensor<?x?xf32, #x>, tensor<?xf32, #row>, tensor<?xf32, #row> {adze.optional})
    -> tensor<?x?xf32, #x>

// positions, values = Peaks(x): a data-dependent number of them.
func.func private @com.example.Peaks(tensor<?x?xf32, #x>)
    -> (tensor<?x2xi64, #positions>, tensor<?xf32, #values>)
