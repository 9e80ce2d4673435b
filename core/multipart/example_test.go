package multipart_test

import (
	"errors"
	"fmt"
	"strings"

	"edgetable/core/multipart"
)

func Example() {
	body := strings.ReplaceAll(`--batch_1
Content-Type: multipart/mixed; boundary=changeset_1

--changeset_1
Content-Type: application/http
Content-Transfer-Encoding: binary

POST https://acct.table.core.windows.net/mytable HTTP/1.1
Content-Type: application/json

{"PartitionKey":"p","RowKey":"1"}
--changeset_1--
--batch_1--
`, "\n", "\r\n")

	boundary, err := multipart.Boundary("multipart/mixed; boundary=batch_1")
	if err != nil {
		panic(err)
	}
	batch, err := multipart.Parse([]byte(body), boundary, 100)
	if err != nil {
		panic(err) // the response is 400 InvalidInput
	}
	part, err := batch.Single()
	if errors.Is(err, multipart.TooMany) {
		panic(err) // the response is 202 with an error part
	} else if err != nil {
		panic(err) // the response is 400 InvalidInput
	}
	for _, op := range part.Operations {
		fmt.Printf("%s %s %s\n", op.Method, op.Target, op.Body)
	}
	// Output:
	// POST https://acct.table.core.windows.net/mytable {"PartitionKey":"p","RowKey":"1"}
}
