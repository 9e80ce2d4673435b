// Package continuation encodes and decodes continuation tokens.
//
// A token encodes where the next page starts, in the service's form 1!{length}!{base64}. One token holds the
// PartitionKey of the position, and another the RowKey. The base64 text has - for =, * for + and _ for /, so it needs
// no escapes in headers and query strings. Tokens are not signed: whatever the position is, a scan stays within the
// range that the request may read.
//
// The PartitionKey token of a descending page begins with the byte 02, which no key contains. If the client then omits
// the order, it gets an error and not the entities that it has already read.
package continuation

import (
	"encoding/base64"
	"strconv"
	"strings"

	"edgetable/core/key"
	"edgetable/core/multipart"
	"edgetable/core/table"
)

const maxToken = 8 << 10

// descends is the first byte of a decoded NextPartitionKey in a descending query.
const descends = 0x02

var errToken = table.InvalidInput.With("One of the request inputs is not valid. The continuation token is damaged: send NextPartitionKey and NextRowKey (or NextTableName) with the values of the x-ms-continuation headers, percent-encoded.")

var alphabet = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*_").WithPadding('-').Strict()

// Token encodes one part of a position: an encoded PartitionKey, an encoded RowKey or, in a list of tables, the name of
// a table.
func Token(part []byte) string {
	text := alphabet.EncodeToString(part)
	return "1!" + strconv.Itoa(len(text)) + "!" + text
}

// Parse is the inverse of [Token]. It returns InvalidInput for any text that Token cannot return.
func Parse(s string) ([]byte, error) {
	if len(s) > maxToken {
		return nil, errToken
	}
	rest, ok := strings.CutPrefix(s, "1!")
	length, text, ok2 := strings.Cut(rest, "!")
	// Package base64 ignores line ends. This check rejects them, so that each token has only one spelling.
	if !ok || !ok2 || length != strconv.Itoa(len(text)) || strings.ContainsAny(text, "\r\n") {
		return nil, errToken
	}
	part, err := alphabet.DecodeString(text)
	if err != nil {
		return nil, errToken
	}
	return part, nil
}

// Headers returns the response headers for a page with the given [table.Page].Next. It returns no headers if next is
// nil.
func Headers(position []byte, descending bool) multipart.Header {
	if position == nil {
		return nil
	}
	partition, row := key.Split(position)
	if descending {
		partition = append([]byte{descends}, partition...)
	}
	return multipart.Header{
		{Name: "x-ms-continuation-NextPartitionKey", Value: Token(partition)},
		{Name: "x-ms-continuation-NextRowKey", Value: Token(row)},
	}
}

// Position decodes the query parameters NextPartitionKey and NextRowKey; nil means that both are absent. Without
// NextRowKey, the page starts at the first entity of the partition.
func Position(nextPartition, nextRow *string, descending bool) ([]byte, error) {
	if nextPartition == nil {
		if nextRow != nil {
			return nil, table.InvalidInput.With(table.InvalidInput.Err().Message + " NextRowKey needs NextPartitionKey: send both with the values of the x-ms-continuation headers.")
		}
		return nil, nil
	}
	position, err := Parse(*nextPartition)
	if err != nil {
		return nil, err
	}
	switch turned := len(position) > 0 && position[0] == descends; {
	case turned && !descending:
		return nil, table.InvalidInput.With(table.InvalidInput.Err().Message + " The continuation token belongs to a query in descending order: send x-edgetable-orderby with the request for each page.")
	case descending && !turned:
		return nil, table.InvalidInput.With(table.InvalidInput.Err().Message + " The continuation token belongs to a query in ascending order: it cannot continue a query in descending order.")
	case turned:
		position = position[1:]
	}
	if nextRow == nil {
		return position, nil
	}
	row, err := Parse(*nextRow)
	if err != nil {
		return nil, err
	}
	return append(append(position, 0), row...), nil
}
