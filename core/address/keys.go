package address

import "strings"

type keys struct {
	partition, row string
	count          int
	bare           bool // whether there is a single literal without a name; the field partition then holds the literal
}

// parseKeys parses 'x', or PartitionKey='p',RowKey='r' in either order, with optional blanks. ok is false for a syntax
// error. k.count is 0 for an unknown or repeated name.
func parseKeys(s string) (k keys, ok bool) {
	havePartition, haveRow := false, false
	for {
		s = strings.TrimLeft(s, " ")
		name := ""
		if !strings.HasPrefix(s, "'") {
			if name, s, ok = strings.Cut(s, "="); !ok {
				return k, false
			}
			name = strings.TrimRight(name, " ")
			s = strings.TrimLeft(s, " ")
		}
		value, rest, ok := cutQuoted(s)
		if !ok {
			return k, false
		}
		switch {
		case name == "PartitionKey" && !havePartition:
			k.partition, havePartition = value, true
		case name == "RowKey" && !haveRow:
			k.row, haveRow = value, true
		case name == "":
			k.partition, k.bare = value, true
		default:
			return keys{}, true
		}
		k.count++
		s = strings.TrimLeft(rest, " ")
		if s == "" {
			return k, true
		}
		if s, ok = strings.CutPrefix(s, ","); !ok || k.count > 1 {
			return k, false
		}
	}
}

// cutQuoted cuts a quoted literal from the front of s. Two consecutive quotes in the literal stand for one quote.
func cutQuoted(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", "", false
	}
	s = s[1:]
	doubled := false
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			doubled = true
			i++
			continue
		}
		value, rest = s[:i], s[i+1:]
		if doubled {
			value = strings.ReplaceAll(value, "''", "'")
		}
		return value, rest, true
	}
	return "", "", false
}
