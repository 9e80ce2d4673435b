package wiretest

import (
	"fmt"
	"strconv"
	"strings"
)

// expand replaces the expressions $(…) in a request. captured contains parts of earlier responses: captured["02.etag"]
// is a header of response 02, and captured["02"] is its body.
func expand(text, account string, captured map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$(")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		var err error
		if strings.HasPrefix(rest, "repeat ") || strings.HasPrefix(rest, "count ") {
			if text, err = repetition(&out, rest); err != nil {
				return "", err
			}
			continue
		}
		var name, value string
		name, text, _ = strings.Cut(rest, ")")
		name, encode := strings.CutSuffix(name, "|query")
		if signed, ok := strings.CutPrefix(name, "sas "); ok {
			value, err = signature(signed, account, captured)
		} else {
			value, err = capture(name, captured)
		}
		if err != nil {
			return "", fmt.Errorf("$(%s): %w", name, err)
		}
		if encode {
			value = percentEncode(value)
		}
		out.WriteString(value)
	}
}

// capture returns a part of an earlier response. The name of the part is an expression such as 02.ETag or 03<Value>.
func capture(name string, captured map[string]string) (string, error) {
	number, element, ok := strings.Cut(name, "<")
	if !ok {
		if value, ok := captured[strings.ToLower(name)]; ok {
			return value, nil
		}
		return "", fmt.Errorf("no such header was received")
	}
	_, value, ok := strings.Cut(captured[number], "<"+element)
	if value, _, found := strings.Cut(value, "<"); ok && found {
		return value, nil
	}
	return "", fmt.Errorf("no such element was received")
}

// repetition appends the expansion of "repeat 3|a|)" or "count 1 3|r@|)" to out, and returns the rest of s.
func repetition(out *strings.Builder, s string) (rest string, err error) {
	head, s, _ := strings.Cut(s, "|")
	pattern, rest, ok := strings.Cut(s, "|)")
	if !ok {
		return "", fmt.Errorf("$(%s| has no |)", head)
	}
	var first, last int
	if _, err = fmt.Sscanf(head, "repeat %d", &last); err == nil {
		out.WriteString(strings.Repeat(pattern, last))
		return rest, nil
	}
	if _, err = fmt.Sscanf(head, "count %d %d", &first, &last); err != nil {
		return "", fmt.Errorf("$(%s: %w", head, err)
	}
	for n := first; n <= last; n++ {
		out.WriteString(strings.ReplaceAll(pattern, "@", strconv.Itoa(n)))
	}
	return rest, nil
}

func percentEncode(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
