package csvfile

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// FuzzCSV writes cells to a file, and checks that the reader returns the same cells. An empty text
// and an absent value must remain different. For any text, the reader must come to an end.
func FuzzCSV(f *testing.F) {
	f.Add("a\x00\x00\"\x00,\x00\r\n", byte(3))
	f.Add("\ufeff\x00=1\x00 \x00;", byte(2))
	f.Fuzz(func(t *testing.T, text string, width byte) {
		if r, err := newReader(strings.NewReader(text)); err == nil {
			for {
				if _, err := r.next(); err != nil {
					break
				}
			}
		}
		cells := strings.Split(text, "\x00")
		n := int(width%5) + 2
		var file []byte
		var want [][]string
		for len(cells) > 0 {
			line := cells[:min(n, len(cells))]
			cells = cells[len(line):]
			if len(want) == 0 { // a separator for the reader, if the first line has none
				line = append(slices.Clone(line), "x", "y")
			}
			for i, c := range line {
				if i > 0 {
					file = append(file, ',')
				}
				if c != "absent" {
					file = appendCell(file, c)
				}
			}
			file = append(file, "\r\n"...)
			if len(line) > 1 || line[0] != "absent" {
				want = append(want, line)
			}
		}
		r, err := newReader(bytes.NewReader(file))
		must.OK(t, err)
		for _, line := range want {
			got, err := r.next()
			if err != nil || len(got) != len(line) {
				t.Fatalf("%v of %q, %v", got, file, err)
			}
			for i, c := range got {
				if c.absent() != (line[i] == "absent") || !c.absent() && c.text != line[i] {
					t.Fatalf("%v of %q", got, file)
				}
			}
		}
		if _, err := r.next(); err != io.EOF {
			t.Fatalf("behind the end of %q: %v", file, err)
		}
	})
}
