package sas

import (
	"strconv"
	"strings"
)

// Describe returns a human-readable description of the token. It does not verify the signature. Values are quoted and
// escaped.
func (t *Token) Describe() []string {
	lines := []string{t.kind.String() + " of version " + t.value(sv)}
	if t.kind == accountSAS {
		lines = append(lines, "resources: "+words(t.value(srt), "s", "the service", "c", "tables", "o", "entities"))
		if !contains(t.value(ss), 't') {
			lines = append(lines, "services: none of tables")
		}
	} else {
		lines = append(lines, "table: "+strconv.Quote(t.table))
	}
	if t.given.has(sp) {
		lines = append(lines, "operations: "+words(t.value(sp),
			"r", "read", "w", "write", "l", "list", "c", "create", "a", "add", "u", "update", "d", "delete"))
	}
	if t.given.has(si) {
		lines = append(lines, "everything else that the stored access policy "+strconv.Quote(t.value(si))+" permits")
	}
	if t.given.has(spk) {
		lines = append(lines, "first entity: PartitionKey "+strconv.Quote(t.value(spk))+row(t.value(srk)))
	}
	if t.given.has(epk) {
		lines = append(lines, "last entity: PartitionKey "+strconv.Quote(t.value(epk))+row(t.value(erk)))
	}
	if t.given.has(st) {
		lines = append(lines, "from: "+t.value(st))
	}
	if t.given.has(se) {
		lines = append(lines, "until: "+t.value(se))
	}
	if t.given.has(sip) {
		lines = append(lines, "addresses: "+t.value(sip))
	}
	if t.value(spr) == "https" {
		lines = append(lines, "protocol: https alone")
	}
	if t.kind == delegationSAS {
		lines = append(lines, "lent to user: "+strconv.Quote(t.value(skoid))+" of tenant "+strconv.Quote(t.value(sktid))+" until "+t.value(ske))
	}
	return lines
}

func row(s string) string {
	if s == "" {
		return ""
	}
	return ", RowKey " + strconv.Quote(s)
}

// words replaces letters by words, such as "r" by "read". The list pairs holds each letter followed by its word.
func words(letters string, pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		if strings.Contains(letters, pairs[i]) {
			out = append(out, pairs[i+1])
		}
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}
