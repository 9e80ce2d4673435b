package changefeed

import (
	"encoding/base64"
	"strings"

	"edgetable/core/table"
)

// The text of a position in a change feed is the base64 encoding of:
//
//   - the format number 1;
//   - a checksum of 8 bytes over the name of the table and the following bytes;
//   - the incarnation of the table;
//   - the history of the store;
//   - the position in the store's own format.
//
// The checksum detects a damaged position and a position of another table, which might otherwise be reported as too
// old. A position grants no access, because the server checks the credentials of each request.

const (
	form     = 1
	sumEnd   = 1 + 8
	lifeEnd  = sumEnd + len(table.Incarnation{})
	shortest = lifeEnd + len(table.History{})
	// longest is the maximum length of a decoded position in bytes.
	longest = shortest + 8<<10
)

// badParameter is the service's text for invalid query parameters, with which the error messages of this package begin.
const badParameter = "Value for one of the query parameters specified in the request URI is invalid. "

var alphabet = base64.RawURLEncoding.Strict()

var longestText = alphabet.EncodedLen(longest)

var errToken = table.InvalidQueryParameterValue.With(badParameter + "The parameter named since is not a position in the change feed of this table. Send the value of x-edgetable-next from an earlier response for the same table, or the word start; or omit this parameter.")

// Token encodes a position in the change feed of a table.
func Token(of table.Name, p *table.FeedPosition) string {
	b := make([]byte, sumEnd, shortest+len(p.At))
	b = append(append(append(b, p.Incarnation[:]...), p.History[:]...), p.At...)
	b[0] = form
	appendHash(b[1:sumEnd], of, b[sumEnd:])
	return alphabet.EncodeToString(b)
}

// ParseToken is the inverse of [Token].
func ParseToken(of table.Name, text string) (*table.FeedPosition, error) {
	b, err := decode(text)
	if err != nil {
		return nil, err
	}
	var want [8]byte
	if appendHash(want[:], of, b[sumEnd:]); string(want[:]) != string(b[1:sumEnd]) {
		return nil, errToken
	}
	p := &table.FeedPosition{At: b[shortest:]}
	copy(p.Incarnation[:], b[sumEnd:])
	copy(p.History[:], b[lifeEnd:])
	return p, nil
}

func decode(text string) ([]byte, error) {
	if len(text) > longestText || strings.ContainsAny(text, "\r\n") { // the base64 decoder would skip line ends
		return nil, errToken
	}
	b, err := alphabet.DecodeString(text)
	if err != nil || len(b) < shortest || b[0] != form {
		return nil, errToken
	}
	return b, nil
}

// IncarnationOf returns the table's incarnation in an encoded position. Clients compute the ids of events from it.
func IncarnationOf(text string) (incarnation table.Incarnation, err error) {
	b, err := decode(text)
	if err == nil {
		copy(incarnation[:], b[sumEnd:])
	}
	return incarnation, err
}

// appendHash fills dst with the FNV-1a hash of a table name and a position. The hash protects against mistakes, not
// attacks.
func appendHash(dst []byte, of table.Name, position []byte) {
	hash := uint64(14695981039346656037)
	add := func(c byte) { hash = (hash ^ uint64(c)) * 1099511628211 }
	for _, text := range [...]string{of.Account, table.FoldName(of.Table)} {
		for i := range len(text) {
			add(text[i])
		}
		add(0)
	}
	for _, c := range position {
		add(c)
	}
	for i := range dst {
		dst[i] = byte(hash >> (56 - 8*i))
	}
}
