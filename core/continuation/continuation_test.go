package continuation_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"edgetable/core/continuation"
	"edgetable/core/key"
	"edgetable/core/table"
)

func isInvalid(err error) bool {
	e, ok := errors.AsType[*table.Error](err)
	return ok && e.Code == table.InvalidInput
}

// TestToken checks that a token encodes any bytes with characters that need no escapes in headers, and that it
// decodes to the same bytes.
func TestToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ part, want string }{
		{"", "1!0!"},
		{"1", "1!4!MQ--"},                  // a token that the service returned
		{"contToken", "1!12!Y29udFRva2Vu"}, // another token that the service returned
		{"\xff\xfb\xf0", "1!4!__vw"},
		{"\xfb\xef\xbe", "1!4!****"},
	} {
		if got := continuation.Token([]byte(tt.part)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.part, got, tt.want)
		}
		if got, err := continuation.Parse(tt.want); err != nil || string(got) != tt.part {
			t.Errorf("%q: got %q, %v", tt.want, got, err)
		}
	}
	for _, s := range []string{
		"", "1", "1!", "1!4", "2!4!MQ--", "1!5!MQ--", "1!04!MQ--", "1!+4!MQ--", "1!-1!", "1!!", "1!4!MQ==", "1!4!MQ-", "1!3!MQ-",
		"1!4!MR--", "1!4!M\n--", "1!5!MQ--\n", " 1!4!MQ--", "1!4!MQ--!", "1!4!a+a/", "1!2!MQ",
		"1!12000!" + strings.Repeat("A", 12000),
	} {
		if got, err := continuation.Parse(s); !isInvalid(err) || got != nil {
			t.Errorf("%.40q: got %q, %v", s, got, err)
		}
	}
}

// TestHeadersComeBack checks that the tokens in a page's headers, sent in the next request, decode to the position
// where the page ended. It tests ascending and descending order.
func TestHeadersComeBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("€", key.MaxLength)
	for _, descending := range []bool{false, true} {
		if h := continuation.Headers(nil, descending); h != nil {
			t.Errorf("the last page has headers %v", h)
		}
		for _, tt := range []struct{ pk, rk string }{{"p", "r"}, {"", ""}, {"p", ""}, {"", "r"}, {"😀", "\ufffd\ue000"}, {"a'b%", "+&="}, {long, long}, {"p", "r\x00"}} {
			next := key.Append(nil, tt.pk, tt.rk)
			h := continuation.Headers(next, descending)
			if len(h) != 2 || h[0].Name != "x-ms-continuation-NextPartitionKey" || h[1].Name != "x-ms-continuation-NextRowKey" {
				t.Fatalf("headers %v", h)
			}
			got, err := continuation.Position(&h[0].Value, &h[1].Value, descending)
			if err != nil || !bytes.Equal(got, next) {
				t.Errorf("%.20q, %.20q: got %.40q, %v", tt.pk, tt.rk, got, err)
			}
			if got, err := continuation.Position(&h[0].Value, &h[1].Value, !descending); got != nil || !isInvalid(err) {
				t.Errorf("%.20q, %.20q in the other order: got %.40q, %v", tt.pk, tt.rk, got, err)
			}
			// Without NextRowKey, the page starts at the beginning of the partition.
			got, err = continuation.Position(&h[0].Value, nil, descending)
			if err != nil || bytes.Compare(got, key.Append(nil, tt.pk, "")) > 0 || !bytes.HasPrefix(next, got) {
				t.Errorf("%.20q alone: got %.40q, %v", tt.pk, got, err)
			}
		}
	}
	if got, err := continuation.Position(nil, nil, true); got != nil || err != nil {
		t.Errorf("no tokens: %q, %v", got, err)
	}
	empty, token := "", "1!4!MQ--"
	for _, q := range [][2]*string{{&empty, nil}, {nil, &token}, {&empty, &token}, {&token, &empty}} {
		if got, err := continuation.Position(q[0], q[1], false); got != nil || !isInvalid(err) {
			t.Errorf("%v: %q, %v", q, got, err)
		}
	}
}

// FuzzToken checks that a token decodes to its original bytes, and that no other text is a token.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "people", "1!4!MQ--", "1!0!", "1!12!Y29udFRva2Vu", "1!12!a*C*sN*_378-", "1!4!MQ==", "\xff\x00\x01", "1!8!YWFhYQ--", "1!4!AnA-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 4096 {
			part, err := continuation.Parse(continuation.Token([]byte(s)))
			if err != nil || string(part) != s {
				t.Fatalf("%q decodes to %q, %v", s, part, err)
			}
		}
		part, err := continuation.Parse(s)
		if (err == nil) != (continuation.Token(part) == s) {
			t.Fatalf("the token %q decodes to %q, %v", s, part, err)
		}
		if err == nil && len(part) > 0 {
			// Position must return the bytes of the token, without the byte that marks descending order.
			descending := part[0] == 2
			position, err := continuation.Position(&s, nil, descending)
			if descending {
				part = part[1:]
			}
			if err != nil || !bytes.Equal(position, part) {
				t.Fatalf("position %q, %v", position, err)
			}
		}
	})
}
