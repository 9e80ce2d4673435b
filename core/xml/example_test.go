package xml_test

import (
	"fmt"

	"edgetable/core/xml"
)

func ExampleReader() {
	r := xml.NewReader([]byte(`<list><Id>a &amp; b</Id><Id/></list>`))
	for {
		kind, err := r.Next()
		if err != nil || kind == xml.EOF {
			fmt.Println("end", err)
			return
		}
		if kind == xml.Start && r.Local() == "Id" {
			id, err := r.Content()
			fmt.Printf("%q %v\n", id, err)
		}
	}
	// Output:
	// "a & b" <nil>
	// "" <nil>
	// end <nil>
}
