// Declarations of host functions: symbolic sizes, any type, an optional input, an
// operator of any domain.
#nm = affine_map<()[n, m] -> (n, m)>
#pairs = affine_map<()[n, m, k] -> (k, 2)>
#kept = affine_map<()[n, m, k] -> (k)>
#wide = affine_map<()[n, m] -> (n, 2 * m)>

func.func private @com.example.Scale(tensor<?x?xf32, #nm>, none {adze.optional}, none {adze.optional})
    -> (none {adze.like = 0 : i64})
func.func private @com.example.Find(tensor<?x?xf32, #nm>)
    -> (tensor<?x2xi64, #pairs>, tensor<?xf32, #kept>)
func.func private @Twice(tensor<?x?xf32, #nm>) -> tensor<?x?xf32, #wide>
