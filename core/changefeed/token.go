package changefeed

import (
	"encoding/base64"
	"strings"

	"edgetable/core/table"
)

// A position as text is base64 of: form 1, sum (8 bytes), incarnation, history, position of the store. The sum is over the
// name of the table and what follows, so that a position of another table, or a damaged one, is told from one that is too old.
// Nothing is secret in it, and nothing is allowed by it: each request is judged by its own credentials.

const (
	form     = 1
	sumEnd   = 1 + 8
	lifeEnd  = sumEnd + len(table.Incarnation{})
	shortest = lifeEnd + len(table.History{})
	// longest is the length of the longest position in bytes.
	longest = shortest + 64
)

// badParameter begins the errors of parameters, with the text of the service.
const badParameter = "Value for one of the query parameters specified in the request URI is invalid. "

var alphabet = base64.RawURLEncoding.Strict()

var longestText = alphabet.EncodedLen(longest)

var errToken = table.InvalidQueryParameterValue.With(badParameter + "since is no position in the changes of this table: send what x-edgetable-next of an earlier answer for the same table had, or start, or leave it out.")

// Token returns a position as text.
func Token(of table.Name, p *table.FeedPosition) string {
	b := make([]byte, sumEnd, longest)
	b = append(append(append(b, p.Life[:]...), p.History[:]...), p.At...)
	b[0] = form
	sum(b[1:sumEnd], of, b[sumEnd:])
	return alphabet.EncodeToString(b)
}

// ParseToken is the inverse of [Token].
func ParseToken(of table.Name, text string) (*table.FeedPosition, error) {
	b, err := decode(text)
	if err != nil {
		return nil, err
	}
	var want [8]byte
	if sum(want[:], of, b[sumEnd:]); string(want[:]) != string(b[1:sumEnd]) {
		return nil, errToken
	}
	p := &table.FeedPosition{At: b[shortest:]}
	copy(p.Life[:], b[sumEnd:])
	copy(p.History[:], b[lifeEnd:])
	return p, nil
}

func decode(text string) ([]byte, error) {
	if len(text) > longestText || strings.ContainsAny(text, "\r\n") { // line ends, which base64 skips
		return nil, errToken
	}
	b, err := alphabet.DecodeString(text)
	if err != nil || len(b) < shortest || b[0] != form {
		return nil, errToken
	}
	return b, nil
}

// LifeOf returns the incarnation of a position of any table, for the ids of events.
func LifeOf(text string) (life table.Incarnation, err error) {
	b, err := decode(text)
	if err == nil {
		copy(life[:], b[sumEnd:])
	}
	return life, err
}

// sum writes FNV-1a of the name of a table and of a position. It tells mistakes, not attacks.
func sum(dst []byte, of table.Name, position []byte) {
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
