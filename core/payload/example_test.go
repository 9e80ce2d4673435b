package payload_test

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/payload"
)

func ExampleReadEntity() {
	e, err := payload.ReadEntity([]byte(`{"PartitionKey":"p","RowKey":"r","Age":23,"Visits":"7","Visits@odata.type":"Edm.Int64"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.PartitionKey, e.RowKey)
	for name, v := range e.Properties.All() {
		fmt.Println(name, v.Type(), v)
	}
	_, err = payload.ReadEntity([]byte(`{"Visits":3000000000,"Visits@odata.type":"Edm.Int32"}`))
	fmt.Println(err)
	// Output:
	// p r
	// Age Edm.Int32 23
	// Visits Edm.Int64 7
	// InvalidInput: An error occurred while processing this request. The value of 'Visits' is not an Int32: a whole number from -2147483648 to 2147483647: '3000000000'. Send a larger number as a string annotated as Edm.Int64.
}

func ExampleReadAtomEntity() {
	e, err := payload.ReadAtomEntity([]byte(`<entry xmlns="http://www.w3.org/2005/Atom"
		xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
		xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
		<content type="application/xml"><m:properties>
			<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey>
			<d:Name>Anna &amp; Bert</d:Name><d:Age m:type="Edm.Int32">23</d:Age><d:Note m:null="true" />
		</m:properties></content></entry>`))
	fmt.Println(e.PartitionKey, e.RowKey, err)
	for name, v := range e.Properties.All() {
		fmt.Println(name, v.Type(), v)
	}
	// Output:
	// p r <nil>
	// Name Edm.String Anna & Bert
	// Age Edm.Int32 23
}

func ExampleView() {
	v := payload.View{
		Format: payload.Minimal, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "people",
		Select: payload.NewProjection([]string{"RowKey", "Age"}, "RowKey,Age"),
	}
	body := v.AppendFeedStart(nil)
	body = v.AppendFeedEntity(body, 0, "p", "anna", edm.MinDateTime, edm.AppendProperty(nil, "Age", edm.Int32(23)))
	body = v.AppendFeedEntity(body, 1, "p", "bert", edm.MinDateTime, nil)
	body = v.AppendFeedEnd(body)
	fmt.Println(string(body))
	// Output:
	// {"odata.metadata":"https://acct.table.core.windows.net/$metadata#people&$select=RowKey,Age","value":[{"odata.etag":"W/\"datetime'1601-01-01T00%3A00%3A00Z'\"","RowKey":"anna","Age":23},{"odata.etag":"W/\"datetime'1601-01-01T00%3A00%3A00Z'\"","RowKey":"bert","Age":null}]}
}
