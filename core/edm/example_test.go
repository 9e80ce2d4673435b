package edm_test

import (
	"fmt"

	"edgetable/core/edm"
)

func Example() {
	p := edm.AppendProperty(nil, "Age", edm.Int32(23))
	p = edm.AppendProperty(p, "Weight", edm.Double(70))
	p = p.Merge(edm.AppendProperty(nil, "Age", edm.Int64(24))) // a merge may change the type
	for name, v := range p.All() {
		fmt.Println(name, v.Type(), v)
	}
	// Output:
	// Age Edm.Int64 24
	// Weight Edm.Double 70.0
}
