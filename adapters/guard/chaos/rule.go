package chaos

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/core/protocol"
)

// Fault is a kind of failure.
type Fault string

// Faults that a rule can name with fault=.
const (
	InternalError Fault = "500"
	ServerBusy    Fault = "503"
	Reset         Fault = "reset"
	LostReply     Fault = "lost-reply"
)

// faults lists all faults, in the order of error messages.
var faults = []string{string(InternalError), string(ServerBusy), string(Reset), string(LostReply)}

// Rule is one rule; the package comment explains the fields. A field that the text of a rule does not set is "" or
// zero.
type Rule struct {
	Account    string
	Operations []string // operation names, patterns, "read" and "write"
	Table      string
	Partition  string

	Probability float64
	Seed        uint64
	Every       int
	Count       int

	Latency      [2]time.Duration // minimum and maximum delay of a request
	Fault        Fault
	BeingDeleted time.Duration
}

// String formats the rule so that Parse can parse it.
func (r *Rule) String() string {
	var b []byte
	word := func(key, value string) {
		if value == "" {
			return
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, key...), '=')
		if strings.ContainsFunc(value, special) {
			b = strconv.AppendQuote(b, value)
		} else {
			b = append(b, value...)
		}
	}
	number := func(key string, n uint64) {
		if n != 0 {
			word(key, strconv.FormatUint(n, 10))
		}
	}
	word("account", r.Account)
	word("operation", strings.Join(r.Operations, ","))
	word("table", r.Table)
	word("partition", r.Partition)
	if r.Probability != 0 {
		word("probability", strconv.FormatFloat(r.Probability, 'g', -1, 64))
	}
	number("seed", r.Seed)
	number("every", uint64(r.Every))
	number("count", uint64(r.Count))
	switch l := r.Latency; {
	case l[0] != l[1]:
		word("latency", l[0].String()+"-"+l[1].String())
	case l[0] != 0:
		word("latency", l[0].String())
	}
	word("fault", string(r.Fault))
	if r.BeingDeleted != 0 {
		word("being-deleted", r.BeingDeleted.String())
	}
	return string(b)
}

const classRead, classWrite = "read", "write"

func (r *Rule) matches(a *protocol.Access) bool {
	if r.Partition != "" && !(a.HasPartition && matchesPattern(r.Partition, a.PartitionKey)) {
		return false
	}
	if r.Account != "" && !matchesPattern(r.Account, a.Account) || r.Table != "" && !likeFold(r.Table, a.Table) {
		return false
	}
	return len(r.Operations) == 0 || slices.ContainsFunc(r.Operations, func(pattern string) bool {
		switch pattern {
		case classRead:
			return !a.Write
		case classWrite:
			return a.Write
		}
		return likeFold(pattern, a.Operation)
	})
}

func likeFold(pattern, s string) bool {
	return matchesPattern(strings.ToLower(pattern), strings.ToLower(s))
}

// matchesPattern reports whether s matches a pattern, in which * stands for any characters.
func matchesPattern(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, head)
	for ok {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		_, s, ok = strings.Cut(s, part)
		rest = next
	}
	return false
}
