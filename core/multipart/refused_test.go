package multipart_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	mp "edgetable/core/multipart"
)

// TestParseCutOff checks that Parse never accepts a truncated body as a smaller transaction. At the end of the batch,
// only blanks and the last "--" may be missing.
func TestParseCutOff(t *testing.T) {
	t.Parallel()
	half := func(s, boundary string) bool { // reports whether the last delimiter line is incomplete: s ends within "--" or CRLF
		return strings.HasSuffix(s, boundary+"-") || strings.HasSuffix(s, "\r")
	}
	for _, tt := range clients {
		boundary, err := mp.Boundary(tt.contentType)
		if err != nil {
			t.Fatal(err)
		}
		complete := strings.LastIndex(tt.body, "--"+boundary) + len("--"+boundary)
		for n := range tt.body {
			b, err := mp.Parse([]byte(tt.body[:n]), boundary, 100)
			switch {
			case n < complete && err == nil:
				if _, err := b.Single(); err == nil {
					t.Fatalf("%s: cut at byte %d: accepted\n%s", tt.name, n, tt.body[:n])
				}
			case n >= complete && err != nil && !half(tt.body[:n], boundary):
				t.Fatalf("%s: cut at byte %d: %v", tt.name, n, err)
			}
		}
	}
}

func TestParseMalformed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		operation  int
		offset     int
	}{
		{"nothing", "", -1, 0},
		{"another boundary", "--x\n--x--", -1, 0},
		{"boundary not at the start of a line", " --b--", -1, 0},
		{"bare CR is no line end", "x\r--b--", -1, 0},
		{"batch not closed", open + write + "--c--\n", -1, 4},
		{"changeset not closed", open + write + "--b--", -1, len(open) + 4},
		{"boundary of the changeset missing", open + "\n--b--", -1, len(open)},
		{"same boundary at both levels: the batch's delimiters win", strings.ReplaceAll(strings.Replace(open, "=c", "=b", 1)+write+end, "--c", "--b"), -1, len(open) - 1},
		{"empty part", "--b\n--b--", -1, 4},
		{"part without Content-Type", "--b\n\nPUT /t HTTP/1.1\n\n--b--", -1, 4},
		{"part of another type", "--b\nContent-Type: text/plain\n\nx\n--b--", -1, 4},
		{"changeset within a changeset", open + "--c\nContent-Type: multipart/mixed; boundary=d\n\n--d--\n" + end, 0, len(open) + 4},
		{"encoded part", open + "--c\nContent-Type: application/http\nContent-Transfer-Encoding: base64\n\nPUT /t HTTP/1.1\n\n" + end, 0, len(open) + 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := mp.Parse([]byte(tt.body), "b", 100)
			var e *mp.Error
			if !errors.As(err, &e) || b != nil {
				t.Fatalf("got %+v, %v, want an error", b, err)
			}
			if e.Reason != mp.Malformed || e.Operation != tt.operation || e.Offset != tt.offset {
				t.Errorf("got operation %d, byte %d, want %d, %d: %v", e.Operation, e.Offset, tt.operation, tt.offset, err)
			}
		})
	}
}

// TestParseUnreadHead checks operations whose head cannot be parsed. In a changeset, such an operation has an empty
// Method, like an empty part. A query with such a head is an error.
func TestParseUnreadHead(t *testing.T) {
	t.Parallel()
	const query = "--b\nContent-Type: application/http\n\n"
	for _, tt := range []struct{ name, request string }{
		{"no request", "\n"},
		{"empty line before the request line", "\nPUT /t HTTP/1.1\n\n"},
		{"request line without version", "PUT /t\n\n"},
		{"another protocol", "PUT /t HTTP/2\n\n"},
		{"empty target", "PUT  HTTP/1.1\n\n"},
		{"blanks around the target", "PUT  /t HTTP/1.1\n\n"},
		{"control character in the target", "PUT /\x00t HTTP/1.1\n\n"},
		{"method is not a token", "P(T /t HTTP/1.1\n\n"},
		{"header without colon", "PUT /t HTTP/1.1\nA\n\n"},
		{"header without name", "PUT /t HTTP/1.1\n: 1\n\n"},
		{"blank before the colon", "PUT /t HTTP/1.1\nA : 1\n\n"},
		{"folded header", "PUT /t HTTP/1.1\nA: 1\n 2\n\n"},
		{"bare CR within a header", "PUT /t HTTP/1.1\nA: 1\rB: 2\n\n"},
		{"too many headers", "PUT /t HTTP/1.1\n" + strings.Repeat("A: 1\n", 65) + "\n"},
		{"too long a header", "PUT /t HTTP/1.1\nA: " + strings.Repeat("x", 32<<10) + "\n\n"},
		{"too long a target", "PUT /" + strings.Repeat("x", 32<<10) + " HTTP/1.1\n\n"},
		{"Content-Length that runs into the next header", "PUT /t HTTP/1.1\nContent-Length: 69Accept: application/json\n\n"},
		{"negative Content-Length", "PUT /t HTTP/1.1\nContent-Length: -1\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := mp.Parse([]byte(open+write+part+tt.request+end), "b", 100)
			if err != nil {
				t.Fatal(err)
			}
			if ops := b.Parts[0].Operations; len(ops) != 2 || ops[0].Method == "" || ops[1].Method != "" || ops[1].Header != nil || ops[1].Body != nil {
				t.Errorf("got %+v, want an operation, and one without a method", ops)
			}
			b, err = mp.Parse([]byte(query+tt.request+"\n--b--"), "b", 100)
			var e *mp.Error
			if !errors.As(err, &e) || b != nil || e.Reason != mp.Malformed || e.Operation != 0 || e.Offset != len(query) {
				t.Errorf("a query: got %+v, %v", b, err)
			}
		})
	}
}

// TestParseLimit checks that Parse returns at most limit+1 operations or parts, even for a body with thousands.
func TestParseLimit(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"operations": open + strings.Repeat(write, 5000) + "garbage that is never read",
		"changesets": strings.Repeat(open+"--c--\n", 5000) + "--b--",
		"queries":    strings.Repeat("--b\nContent-Type: application/http\n\nGET /t HTTP/1.1\n\n", 5000) + "--b--",
	} {
		b, err := mp.Parse([]byte(body), "b", 100)
		if name == "operations" {
			// This batch has no delimiter after its changeset. Parse refuses it before it reads any operation.
			if !errors.Is(err, mp.Malformed) {
				t.Errorf("%s: got %v, want Malformed", name, err)
			}
			b, err = mp.Parse([]byte(body+"\n--b--"), "b", 100)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := 0
		for _, p := range b.Parts {
			n += len(p.Operations)
		}
		if !b.Truncated || len(b.Parts) > 101 || n > 101 {
			t.Errorf("%s: %d parts, %d operations, truncated %v", name, len(b.Parts), n, b.Truncated)
		}
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	_, err := mp.Parse([]byte(open+write+"--c\nContent-Type: secret\n\n"+end), "b", 100)
	want := fmt.Sprintf("multipart: malformed: operation 1: at byte %d: the content type of a changeset part must be application/http", len(open+write)+len("--c\n"))
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
