package odata_test

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

func Example() {
	f, err := odata.Parse("PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and 18 le Age")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := odata.MakePlan(f)
	fmt.Println(plan.Kind, len(plan.Ranges), plan.Residual)

	k := key.Append(nil, "p", "alice")
	age := edm.AppendProperty(nil, "Age", edm.Int32(42))
	fmt.Println(plan.Ranges[0].Contains(k), plan.Residual.Match(k, 0, age), f.Match(k, 0, nil))
	// Output:
	// Rows 1 Age ge 18
	// true true false
}

func ExampleParse_error() {
	_, err := odata.Parse("aaa bbb ccc")
	fmt.Println(err)
	// Output: Syntax error at position 7 in 'aaa bbb ccc'.
}
