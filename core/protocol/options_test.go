package protocol_test

import (
	"bytes"
	"strings"
	"testing"

	"edgetable/core/key"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

func TestParseOptions(t *testing.T) {
	t.Parallel()
	none := protocol.Options{Filter: "-", Top: "-", Select: "-", Format: "-"}
	for _, tt := range []struct {
		raw    string
		change func(*protocol.Options)
		why    string
	}{
		{"", func(*protocol.Options) {}, "nothing"},
		{"&&=&x", func(*protocol.Options) {}, "no options"},
		{"$filter=a+eq+%27b%2Bc%27", func(o *protocol.Options) { o.Filter = "a eq 'b+c'" }, "a plus is a blank"},
		{"%24filter=x", func(o *protocol.Options) { o.Filter = "x" }, "an escaped name"},
		{"$filter=", func(o *protocol.Options) { o.Filter = "" }, "empty is not absent"},
		{"$filter", func(o *protocol.Options) { o.Filter = "" }, "a name without a value is not absent"},
		{"$filter=a=b", func(o *protocol.Options) { o.Filter = "a=b" }, "the first equals sign separates"},
		{"$top=5&$select=A,B&$format=json", func(o *protocol.Options) { o.Top, o.Select, o.Format = "5", "A,B", "json" }, "the others"},
		{"COMP=acl&ResType=service", func(o *protocol.Options) { o.Comp, o.Restype = "acl", "service" }, "any case"},
		{"filter=x&Top=5&nextpartitionkey=!", func(*protocol.Options) {}, "unknown names"},
		{"timeout=30", func(*protocol.Options) {}, "a timeout"},
	} {
		want := none
		tt.change(&want)
		if got, err := protocol.ParseOptions(tt.raw); err != nil || got != want {
			t.Errorf("%q (%s): got %+v, %v, want %+v", tt.raw, tt.why, got, err, want)
		}
	}
	for _, tt := range []struct {
		raw  string
		want table.Code
	}{
		{"$orderby=A", table.NotImplemented},
		{"$Filter=A", table.NotImplemented},
		{"a=%", table.InvalidQueryParameterValue},
		{"%zz=a", table.InvalidQueryParameterValue},
		{"timeout=", table.InvalidQueryParameterValue},
		{"timeout=-1", table.InvalidQueryParameterValue},
		{"Timeout=1.5", table.InvalidQueryParameterValue},
		{"comp=acl&comp=acl", table.InvalidQueryParameterValue}, // only one comp is signed
		{"comp=&%43omp=acl", table.InvalidQueryParameterValue},
	} {
		if _, err := protocol.ParseOptions(tt.raw); code(t, err) != tt.want {
			t.Errorf("%q: got %v, want %s", tt.raw, err, tt.want)
		}
	}
	if o, _ := protocol.ParseOptions("sv=1&API-version=2019-02-02"); o.APIVersion != "2019-02-02" {
		t.Errorf("api-version is %q", o.APIVersion)
	}
}

// TestToken checks that a token encodes any bytes in an alphabet that needs no
// escapes in a header, and decodes to the same bytes.
func TestToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ part, want string }{
		{"", "1!0!"},
		{"1", "1!4!MQ--"},                  // a token of the service
		{"contToken", "1!12!Y29udFRva2Vu"}, // another token of the service
		{"\xff\xfb\xf0", "1!4!__vw"},
		{"\xfb\xef\xbe", "1!4!****"},
	} {
		if got := protocol.Token([]byte(tt.part)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.part, got, tt.want)
		}
		if got, err := protocol.ParseToken(tt.want); err != nil || string(got) != tt.part {
			t.Errorf("%q: got %q, %v", tt.want, got, err)
		}
	}
	for _, s := range []string{
		"", "1", "1!", "1!4", "2!4!MQ--", "1!5!MQ--", "1!04!MQ--", "1!+4!MQ--", "1!-1!", "1!!", "1!4!MQ==", "1!4!MQ-", "1!3!MQ-",
		"1!4!MR--", "1!4!M\n--", "1!5!MQ--\n", " 1!4!MQ--", "1!4!MQ--!", "1!4!a+a/", "1!2!MQ",
		"1!12000!" + strings.Repeat("A", 12000),
	} {
		if got, err := protocol.ParseToken(s); code(t, err) != table.InvalidInput || got != nil {
			t.Errorf("%.40q: got %q, %v", s, got, err)
		}
	}
}

// TestContinuationComesBack checks that the headers of a page, sent back as
// options, give the position where the page ended.
func TestContinuationComesBack(t *testing.T) {
	t.Parallel()
	if h := protocol.Continuation(nil); h != nil {
		t.Errorf("the last page has headers %v", h)
	}
	long := strings.Repeat("€", key.MaxLength)
	for _, tt := range []struct{ pk, rk string }{{"p", "r"}, {"", ""}, {"p", ""}, {"", "r"}, {"😀", "\ufffd\ue000"}, {"a'b%", "+&="}, {long, long}} {
		next := key.Append(nil, tt.pk, tt.rk)
		h := protocol.Continuation(next)
		if len(h) != 2 || h[0].Name != "x-ms-continuation-NextPartitionKey" || h[1].Name != "x-ms-continuation-NextRowKey" {
			t.Fatalf("headers %v", h)
		}
		got, err := protocol.EntityPosition("NextPartitionKey=" + h[0].Value + "&NextRowKey=" + h[1].Value)
		if err != nil || !bytes.Equal(got, next) {
			t.Errorf("%.20q, %.20q: got %.40q, %v", tt.pk, tt.rk, got, err)
		}
		// Without the row the page starts at the beginning of the same partition.
		got, err = protocol.EntityPosition("NextPartitionKey=" + h[0].Value)
		if err != nil || bytes.Compare(got, key.Append(nil, tt.pk, "")) > 0 || bytes.Compare(got, next) > 0 || !bytes.HasPrefix(next, got) {
			t.Errorf("%.20q alone: got %.40q, %v", tt.pk, got, err)
		}
	}
	if got, err := protocol.EntityPosition(""); got != nil || err != nil {
		t.Errorf("no tokens: %q, %v", got, err)
	}
	for _, q := range []string{"NextPartitionKey=", "NextRowKey=1!4!MQ--", "NextPartitionKey=&NextRowKey=1!4!MQ--", "NextPartitionKey=1!4!MQ--&NextRowKey="} {
		if got, err := protocol.EntityPosition(q); got != nil || code(t, err) != table.InvalidInput {
			t.Errorf("%q: %q, %v", q, got, err)
		}
	}
	if got, err := protocol.TablePosition("NextTableName=" + protocol.Token([]byte("people"))); got != "people" || err != nil {
		t.Errorf("table %q, %v", got, err)
	}
	if got, err := protocol.TablePosition(""); got != "" || err != nil {
		t.Errorf("no table: %q, %v", got, err)
	}
	if _, err := protocol.TablePosition("NextTableName="); code(t, err) != table.InvalidInput {
		t.Errorf("an empty token: %v", err)
	}
	if _, err := protocol.TablePosition("NextTableName=people"); code(t, err) != table.InvalidInput {
		t.Errorf("a name is no token: %v", err)
	}
}
