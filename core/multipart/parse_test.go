package multipart_test

import (
	"errors"
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

// TestParseLineEnds replaces the line ends in the batch of each client, and checks that Parse still returns the same
// operations. The replacement also changes the line ends inside the body of an operation, for example in Atom. So the
// test compares the bodies as if each line end were LF.
func TestParseLineEnds(t *testing.T) {
	t.Parallel()
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	mixed := func(s string) string { // CRLF and LF alternately
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
		want  mp.Reason // 0 if the batch must be accepted
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

// TestParseDoesNotCopyBodies checks that bodies are slices of the input, and that appending to a body does not change
// the next one.
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

// TestParseGlued checks delimiters without a line end before them. Such a delimiter ends a part only if it follows a
// JSON body.
func TestParseGlued(t *testing.T) {
	t.Parallel()
	glued := func(body string) string { return open + part + "PUT /t HTTP/1.1\nA: 1\n\n" + body + write + end }
	for _, tt := range []struct {
		name, body string
		want       []string // the bodies of the operations; nil if Parse must fail
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

// TestParseBraces checks that parsing a part does not take quadratic time. The part has a long head and many braces,
// each followed by a delimiter. If Parse read the head again for each brace, the test would take an hour.
func TestParseBraces(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a\n", 1<<20)
	body := open + head + "\n" + "PUT /t HTTP/1.1\n\n{" + strings.Repeat("}--c.", 2<<20/5)
	if _, err := mp.Parse([]byte(body), "b", 100); err == nil {
		t.Error("a batch without an end was read")
	}
	if _, err := mp.Parse([]byte(body+end), "b", 100); err == nil {
		t.Error("a head of lines that are no headers was read")
	}
}
