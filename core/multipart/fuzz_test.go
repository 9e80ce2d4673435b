package multipart_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mp "edgetable/core/multipart"
)

// FuzzBatch checks that an accepted batch is within limits, and is the same after encoding and parsing it again.
func FuzzBatch(f *testing.F) {
	for _, c := range clients {
		boundary, err := mp.Boundary(c.contentType)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(boundary, []byte(c.body), uint8(100))
	}
	f.Add("b", []byte(open+write+write+write+end), uint8(1))
	f.Add("b", []byte(open+"--c--\n"+open+write+end), uint8(3))
	f.Add("b", []byte(strings.Repeat(open+"--c--\n", 3)+"--b"), uint8(1))
	f.Add("b", []byte(open+strings.ReplaceAll(write, "{}\n", "{}")+"--c\n\n"+end), uint8(3))
	f.Fuzz(func(t *testing.T, boundary string, body []byte, limit uint8) {
		original := string(body)
		b, err := mp.Parse(body, boundary, int(limit))
		if string(body) != original {
			t.Fatal("Parse changed the body")
		}
		if (b == nil) != (err != nil) {
			t.Fatalf("Parse returned batch %v and error %v", b, err)
		}
		if err != nil {
			if msg := err.Error(); len(msg) > 200 {
				t.Fatalf("the error has %d bytes", len(msg))
			}
			return
		}

		operations, size := 0, 0
		for _, p := range b.Parts {
			operations += len(p.Operations)
			if !p.Changeset && len(p.Operations) != 1 {
				t.Fatalf("%d operations outside of a changeset", len(p.Operations))
			}
			for _, op := range p.Operations {
				size += len(op.Method) + len(op.Target) + len(op.Body)
				for _, f := range op.Header {
					size += len(f.Name) + len(f.Value)
				}
			}
		}
		over := operations > int(limit) || len(b.Parts) > int(limit)
		if operations > int(limit)+1 || len(b.Parts) > int(limit)+1 || b.Truncated != over || size > len(body) {
			t.Fatalf("limit %d: %d operations, %d parts, truncated %v, %d bytes of %d", limit, operations, len(b.Parts), b.Truncated, size, len(body))
		}
		if part, err := b.Single(); err == nil && len(part.Operations) > int(limit) && part.Changeset {
			t.Fatalf("Single accepted %d operations", len(part.Operations))
		}

		fresh := "x"
		for strings.Contains(original, fresh) {
			fresh += "x"
		}
		encoded := mp.AppendBatch(nil, fresh+"_b", fresh+"_c", b)
		again, err := mp.Parse(encoded, fresh+"_b", int(limit))
		if err != nil {
			t.Fatalf("re-encoded: %v\n%q", err, encoded)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("re-encoded as %q:\n%s", encoded, diff)
		}
	})
}

// FuzzBoundary checks that an accepted boundary can delimit a body, and is the same after quoting.
func FuzzBoundary(f *testing.F) {
	for _, c := range clients {
		f.Add(c.contentType)
	}
	f.Add(`multipart/mixed; x="\";"; boundary="a\"b"`)
	f.Add("multipart/mixed; boundary=batch(36522ad7-fc75)")
	f.Fuzz(func(t *testing.T, contentType string) {
		boundary, err := mp.Boundary(contentType)
		if err != nil {
			if boundary != "" {
				t.Fatalf("boundary %q and %v", boundary, err)
			}
			return
		}
		if boundary == "" || len(boundary) > 200 {
			t.Fatalf("boundary %q", boundary)
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(boundary)
		if again, err := mp.Boundary(`multipart/mixed;boundary="` + quoted + `"`); err != nil || again != boundary {
			t.Fatalf("%q quoted gives %q, %v", boundary, again, err)
		}
		want := mp.Batch{Parts: changeset(mp.Operation{Method: "DELETE", Target: "/t"})}
		other := "c"
		if boundary == "c" {
			other = "d"
		}
		got, err := mp.Parse(mp.AppendBatch(nil, boundary, other, &want), boundary, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
