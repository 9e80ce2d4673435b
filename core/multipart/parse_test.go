package multipart_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mp "edgetable/core/multipart"
)

func TestParseClients(t *testing.T) {
	t.Parallel()
	for _, tt := range clients {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			boundary, err := mp.Boundary(tt.contentType)
			if err != nil {
				t.Fatal(err)
			}
			got, err := mp.Parse([]byte(tt.body), boundary, 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&mp.Batch{Parts: tt.want}, got); diff != "" {
				t.Error(diff)
			}
			part, err := got.Single()
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.want[0], part); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParseLineEnds checks that every client's body means the same with other
// line ends. Bodies of parts keep their line ends, so the Atom sample is
// compared without them.
func TestParseLineEnds(t *testing.T) {
	t.Parallel()
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	mixed := func(s string) string { // every other line
		lines := strings.SplitAfter(lf(s), "\n")
		for i := 0; i < len(lines); i += 2 {
			lines[i] = crlf(lines[i])
		}
		return strings.Join(lines, "")
	}
	for _, tt := range clients {
		boundary, err := mp.Boundary(tt.contentType)
		if err != nil {
			t.Fatal(err)
		}
		for name, convert := range map[string]func(string) string{
			"LF": lf, "CRLF": func(s string) string { return crlf(lf(s)) }, "mixed": mixed,
		} {
			got, err := mp.Parse([]byte(convert(tt.body)), boundary, 100)
			if err != nil {
				t.Errorf("%s: %s: %v", tt.name, name, err)
				continue
			}
			sameLines := cmp.Transformer("lf", func(b []byte) string { return lf(string(b)) })
			if diff := cmp.Diff(tt.want, got.Parts, sameLines); diff != "" {
				t.Errorf("%s: %s:\n%s", tt.name, name, diff)
			}
		}
	}
}

// TestParseCutOff checks that a body that was cut off is never accepted as a
// smaller transaction. Only blanks and the last "--" may be missing at the end
// of the batch.
func TestParseCutOff(t *testing.T) {
	t.Parallel()
	half := func(s, boundary string) bool { // half of the last "--" or of CRLF: not a delimiter line
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

const (
	open  = "--b\nContent-Type: multipart/mixed; boundary=c\n\n"
	part  = "--c\nContent-Type: application/http\n\n"
	end   = "--c--\n--b--\n"
	write = part + "PUT /t HTTP/1.1\nA: 1\n\n{}\n"
)

func TestParseTolerance(t *testing.T) {
	t.Parallel()
	put := mp.Operation{Method: "PUT", Target: "/t", Header: mp.Header{{"A", "1"}}, Body: []byte("{}")}
	bare := mp.Operation{Method: "PUT", Target: "/t", Header: mp.Header{{"A", "1"}}}
	with := func(body string) mp.Operation { op := put; op.Body = []byte(body); return op }
	for _, tt := range []struct {
		name, body string
		want       []mp.Part
	}{
		{"plain", open + write + end, changeset(put)},
		{"preamble and epilogue of both levels", "x\n--bb\n" + open + "y\n--cc\n" + write + "--c--\nepilogue\n--b--\n--b\nz", changeset(put)},
		{"blanks behind delimiters", strings.ReplaceAll(open+write+end, "--c\n", "--c \t\n"), changeset(put)},
		{"empty line between the closing delimiters", open + write + "--c--\n\n--b--", changeset(put)},
		{"delimiter-like lines in a body", open + part + "PUT /t HTTP/1.1\nA: 1\n\n--cc\n --c\n--c-\n--c-- x\n" + end, changeset(with("--cc\n --c\n--c-\n--c-- x"))},
		{"boundary inside a line", open + part + "PUT /t HTTP/1.1\nA: 1\n\n{\"x\":\"--c\"}\n" + end, changeset(with(`{"x":"--c"}`))},
		{"no body, one empty line", open + part + "PUT /t HTTP/1.1\nA: 1\n\n" + end, changeset(bare)},
		{"no body, two empty lines", open + part + "PUT /t HTTP/1.1\nA: 1\n\n\n" + end, changeset(bare)},
		{"no body, three empty lines", open + part + "PUT /t HTTP/1.1\r\nA: 1\r\n\r\n\r\n\r\n" + end, changeset(bare)},
		{"Content-Length that would cut the body", open + part + "PUT /t HTTP/1.1\nContent-Length: 1\n\n\r\n{}\n" + end,
			changeset(mp.Operation{Method: "PUT", Target: "/t", Header: mp.Header{{"Content-Length", "1"}}, Body: []byte("{}")})},
		{"no header at all", open + part + "DELETE /t HTTP/1.1\n\n\n" + end, changeset(mp.Operation{Method: "DELETE", Target: "/t"})},
		{"blanks around a value go, colons and repeated names stay", open + part + "PUT /t HTTP/1.1\na:\t x:y \nA:\n\n" + end,
			changeset(mp.Operation{Method: "PUT", Target: "/t", Header: mp.Header{{"a", "x:y"}, {"A", ""}}})},
		{"content type with parameters and in any case", open + strings.Replace(write, "application/http", "Application/HTTP; msgtype=request", 1) + end, changeset(put)},
		{"empty changeset", open + end, changeset()},
		{"two changesets", open + write + "--c--\n" + open + write + end, append(changeset(put), changeset(put)...)},
		{"operation beside a changeset", strings.ReplaceAll(write, "--c", "--b") + open + write + end, append([]mp.Part{{Operations: []mp.Operation{put}}}, changeset(put)...)},
		{"batch without part", "--b--", nil},
		{"batch without part, unclosed", "--b\n\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := mp.Parse([]byte(tt.body), "b", 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Parts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseMalformed(t *testing.T) {
	t.Parallel()
	in := func(request string) string { return open + part + request + end }
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
		{"no request", in("\n"), 0, len(open) + len(part)},
		{"empty line before the request line", in("\nPUT /t HTTP/1.1\n\n"), 0, len(open) + len(part)},
		{"head that the delimiter cuts off", in("PUT /t HTTP/1.1\nA: 1\n"), 0, len(open) + len(part)},
		{"request line without version", in("PUT /t\n\n"), 0, len(open) + len(part)},
		{"another protocol", in("PUT /t HTTP/2\n\n"), 0, len(open) + len(part)},
		{"empty target", in("PUT  HTTP/1.1\n\n"), 0, len(open) + len(part)},
		{"blanks around the target", in("PUT  /t HTTP/1.1\n\n"), 0, len(open) + len(part)},
		{"control character in the target", in("PUT /\x00t HTTP/1.1\n\n"), 0, len(open) + len(part)},
		{"method is not a token", in("P(T /t HTTP/1.1\n\n"), 0, len(open) + len(part)},
		{"header without colon", in("PUT /t HTTP/1.1\nA\n\n"), 0, len(open) + len(part)},
		{"header without name", in("PUT /t HTTP/1.1\n: 1\n\n"), 0, len(open) + len(part)},
		{"blank before the colon", in("PUT /t HTTP/1.1\nA : 1\n\n"), 0, len(open) + len(part)},
		{"folded header", in("PUT /t HTTP/1.1\nA: 1\n 2\n\n"), 0, len(open) + len(part)},
		{"bare CR within a header", in("PUT /t HTTP/1.1\nA: 1\rB: 2\n\n"), 0, len(open) + len(part)},
		{"too many headers", in("PUT /t HTTP/1.1\n" + strings.Repeat("A: 1\n", 65) + "\n"), 0, len(open) + len(part)},
		{"too long a header", in("PUT /t HTTP/1.1\nA: " + strings.Repeat("x", 32<<10) + "\n\n"), 0, len(open) + len(part)},
		{"too long a target", in("PUT /" + strings.Repeat("x", 32<<10) + " HTTP/1.1\n\n"), 0, len(open) + len(part)},
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

func TestSingle(t *testing.T) {
	t.Parallel()
	ops := func(methods ...string) (list []mp.Operation) {
		for _, m := range methods {
			list = append(list, mp.Operation{Method: m, Target: "/t"})
		}
		return list
	}
	set := func(methods ...string) mp.Part { return mp.Part{Changeset: true, Operations: ops(methods...)} }
	direct := func(method string) mp.Part { return mp.Part{Operations: ops(method)} }
	for _, tt := range []struct {
		name  string
		parts []mp.Part
		want  mp.Reason // 0 if accepted
		op    int
	}{
		{"a changeset", []mp.Part{set("POST", "DELETE")}, 0, 0},
		{"a changeset of exactly the limit", []mp.Part{set("POST", "POST", "POST")}, 0, 0},
		{"a changeset of nothing, as the Python client's empty transaction", []mp.Part{set()}, 0, 0},
		{"a changeset with an empty part", []mp.Part{set("POST", "")}, 0, 0},
		{"a query", []mp.Part{direct("GET")}, 0, 0},
		{"nothing", nil, mp.Empty, -1},
		{"one operation more than the limit", []mp.Part{set("POST", "POST", "POST", "POST")}, mp.TooMany, 3},
		{"many more", []mp.Part{set("POST", "POST", "POST", "POST", "POST", "POST")}, mp.TooMany, 3},
		{"two changesets", []mp.Part{set("POST"), set("POST")}, mp.Mixed, -1},
		{"an empty changeset beside a full one", []mp.Part{set("POST"), set()}, mp.Mixed, -1},
		{"more changesets than the limit", []mp.Part{set(), set(), set(), set(), set()}, mp.Mixed, -1},
		{"two queries", []mp.Part{direct("GET"), direct("GET")}, mp.Mixed, -1},
		{"a query before a changeset", []mp.Part{direct("GET"), set("POST")}, mp.Mixed, -1},
		{"a write outside of a changeset", []mp.Part{direct("PUT")}, mp.Mixed, 0},
		{"a query within a changeset", []mp.Part{set("POST", "GET")}, mp.Mixed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := mp.AppendBatch(nil, "b", "c", &mp.Batch{Parts: tt.parts})
			b, err := mp.Parse(body, "b", 3)
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Single()
			if tt.want == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *mp.Error
			if !errors.As(err, &e) || !errors.Is(err, tt.want) || e.Operation != tt.op {
				t.Errorf("got %v, want %v of operation %d", err, tt.want, tt.op)
			}
		})
	}
}

// TestParseLimit checks that Parse stops at the limit in a hostile body.
func TestParseLimit(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"operations": open + strings.Repeat(write, 5000) + "garbage that is never read",
		"changesets": strings.Repeat(open+"--c--\n", 5000) + "--b--",
		"queries":    strings.Repeat("--b\nContent-Type: application/http\n\nGET /t HTTP/1.1\n\n", 5000) + "--b--",
	} {
		b, err := mp.Parse([]byte(body), "b", 100)
		if name == "operations" {
			// Parse reads the framing of the batch first, and this batch is not
			// closed.
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

// TestParseDoesNotCopyBodies checks that bodies are slices of the input, and
// that appending to one does not change the next.
func TestParseDoesNotCopyBodies(t *testing.T) {
	t.Parallel()
	body := []byte(open + strings.Repeat(write, 8) + end)
	b, err := mp.Parse(body, "b", 100)
	if err != nil {
		t.Fatal(err)
	}
	ops := b.Parts[0].Operations
	if &ops[0].Body[0] != &body[strings.Index(string(body), "{}")] {
		t.Error("the body was copied")
	}
	before := string(body)
	for _, op := range ops {
		_ = append(op.Body, "overwritten"...)
		_ = append(op.Header, mp.Field{Name: "X", Value: "1"})
	}
	if string(body) != before {
		t.Error("appending to a body changed the input")
	}
	for i, op := range ops {
		if op.Header.Get("A") != "1" {
			t.Errorf("operation %d has a header of another operation", i)
		}
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	op := mp.Operation{Header: mp.Header{{"if-match", ""}, {"If-Match", "*"}, {"CONTENT-id", "7"}}}
	if v, ok := op.Header.Lookup("If-Match"); v != "" || !ok {
		t.Errorf("got %q, %v, want the first field, which is empty", v, ok)
	}
	if v, ok := op.Header.Lookup("Prefer"); v != "" || ok {
		t.Errorf("got %q, %v, want no field", v, ok)
	}
	if got := op.ContentID(); got != "7" {
		t.Errorf("Content-ID %q", got)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	_, err := mp.Parse([]byte(open+write+part+"secret\n\n"+end), "b", 100)
	want := fmt.Sprintf("multipart: malformed: operation 1: at byte %d: the request line is not 'METHOD target HTTP/1.1'", len(open+write+part))
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestParseGlued checks that a delimiter that does not begin a line ends only a
// part with JSON.
func TestParseGlued(t *testing.T) {
	t.Parallel()
	glued := func(body string) string { return open + part + "PUT /t HTTP/1.1\nA: 1\n\n" + body + write + end }
	for _, tt := range []struct {
		name, body string
		want       []string // bodies; nil if the batch cannot be read
	}{
		{"JSON", glued("{}"), []string{"{}", "{}"}},
		{"a delimiter in a string", glued(`{"a":"}--c"}`), []string{`{"a":"}--c"}`, "{}"}},
		{"the closing delimiter", open + part + "PUT /t HTTP/1.1\n\n{}" + end, []string{"{}"}},
		{"the delimiter of the batch", open + part + "PUT /t HTTP/1.1\n\n{}\n--c----b--\n", nil},
		{"ATOM", glued("<a>}"), []string{"<a>}" + strings.TrimSuffix(write, "\n")}},
		{"a number", glued("5"), []string{"5" + strings.TrimSuffix(write, "\n")}},
		{"a header", open + part + "PUT /t HTTP/1.1\nA: }--c\n\n{}\n" + end, []string{"{}"}},
	} {
		b, err := mp.Parse([]byte(tt.body), "b", 100)
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, op := range b.Parts[0].Operations {
			got = append(got, string(op.Body))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
