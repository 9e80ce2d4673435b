package protocol

import (
	"encoding/base64"
	"strconv"
	"strings"

	"edgetable/core/key"
	"edgetable/core/multipart"
	"edgetable/core/table"
)

// A continuation token names the position where the next page starts, in the
// service's form: 1!{length}!{base64}. The base64 text has - for =, * for + and
// _ for /, so that it needs no escapes in headers and query strings. One token
// holds the PartitionKey, another the RowKey. A position need not be the key of
// an entity. A token needs no signature, because every position is a legal
// start and the scan stays within the range that the request may read.

const maxToken = 8 << 10

var errToken = table.InvalidInput.With("One of the request inputs is not valid. The continuation token is damaged: send NextPartitionKey and NextRowKey (or NextTableName) as they came in the x-ms-continuation headers, percent-encoded.")

var tokenAlphabet = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*_").WithPadding('-').Strict()

func token(part []byte) string {
	text := tokenAlphabet.EncodeToString(part)
	return "1!" + strconv.Itoa(len(text)) + "!" + text
}

func parseToken(s string) ([]byte, error) {
	if len(s) > maxToken {
		return nil, errToken
	}
	rest, ok := strings.CutPrefix(s, "1!")
	length, text, ok2 := strings.Cut(rest, "!")
	// Package base64 skips line ends, but a token has only one valid spelling.
	if !ok || !ok2 || length != strconv.Itoa(len(text)) || strings.ContainsAny(text, "\r\n") {
		return nil, errToken
	}
	part, err := tokenAlphabet.DecodeString(text)
	if err != nil {
		return nil, errToken
	}
	return part, nil
}

// continuation returns the headers with the position of the next page of
// entities, or no headers after the last page.
func continuation(next []byte) multipart.Header {
	if next == nil {
		return nil
	}
	partition, row := key.Split(next)
	return multipart.Header{
		{Name: "x-ms-continuation-NextPartitionKey", Value: token(partition)},
		{Name: "x-ms-continuation-NextRowKey", Value: token(row)},
	}
}

// position decodes the tokens that continuation made, or returns nil if the
// request has none. Without a NextRowKey the page starts at the first entity of
// the partition. An empty token is an error, as in the service.
func (o *options) position() ([]byte, error) {
	if o.nextPartition == nil {
		if o.nextRow != nil {
			return nil, table.InvalidInput.With(table.InvalidInput.Err().Message + " NextRowKey needs NextPartitionKey: send both as they came in the x-ms-continuation headers.")
		}
		return nil, nil
	}
	partition, err := parseToken(*o.nextPartition)
	if err != nil || o.nextRow == nil {
		return partition, err
	}
	row, err := parseToken(*o.nextRow)
	if err != nil {
		return nil, err
	}
	return append(append(partition, 0), row...), nil
}

// tablePosition decodes the token of a list of tables.
func (o *options) tablePosition() (string, error) {
	if o.nextTable == nil {
		return "", nil
	}
	name, err := parseToken(*o.nextTable)
	return string(name), err
}
