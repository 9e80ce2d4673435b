package changefeed

import (
	"encoding/base64"
	"strings"

	"edgetable/core/table"
)

// A client sends and receives a position in a change feed as text. The text is the base64 encoding of:
//
//   - the format number 1;
//   - a checksum of 8 bytes, which covers the name of the table and the bytes after the checksum;
//   - the incarnation, a random id that the table has from its creation to its deletion;
//   - the history, an id that changes when the store is restored from a backup;
//   - the position in the format of the store.
//
// By the checksum the server detects a damaged position, and a position of another table. Without the checksum, the
// server might report such a position as too old. A position contains no secret and gives no access, because the
// server checks the credentials of each request.

const (
	form     = 1
	sumEnd   = 1 + 8
	lifeEnd  = sumEnd + len(table.Incarnation{})
	shortest = lifeEnd + len(table.History{})
	// longest is the maximum length of a position in bytes, before it is encoded as base64.
	longest = shortest + 8<<10
)

// badParameter is the service's text for wrong query parameters. The error messages of this package begin with this
// text.
const badParameter = "Value for one of the query parameters specified in the request URI is invalid. "

var alphabet = base64.RawURLEncoding.Strict()

var longestText = alphabet.EncodedLen(longest)

var errToken = table.InvalidQueryParameterValue.With(badParameter + "The parameter named since is not a position in the change feed of this table. Send the value of x-edgetable-next from an earlier response for the same table, or the word start; or omit this parameter.")

// Token returns the text of a position in the change feed of a table.
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
	if len(text) > longestText || strings.ContainsAny(text, "\r\n") { // line ends are refused, because the base64 decoder would skip them
		return nil, errToken
	}
	b, err := alphabet.DecodeString(text)
	if err != nil || len(b) < shortest || b[0] != form {
		return nil, errToken
	}
	return b, nil
}

// IncarnationOf returns the table's incarnation from the text of a position in the table's change feed. The incarnation
// is a random id that a table has from its creation to its deletion. Clients compute the ids of events from this id.
func IncarnationOf(text string) (incarnation table.Incarnation, err error) {
	b, err := decode(text)
	if err == nil {
		copy(incarnation[:], b[sumEnd:])
	}
	return incarnation, err
}

// appendHash fills dst with the FNV-1a hash of a table name and a position. The hash detects mistakes, not attacks.
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
