package workerd_test

import (
	"io"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// TestCauses checks that the writer passes on all lines except those of the access log, however the lines are divided into
// writes.
func TestCauses(t *testing.T) {
	t.Parallel()
	const log = "panic: out of memory\n" + `{"msg":"request","status":200}` + "\n" + `{"msg":"trap","cause":"unreachable"}` + "\nthe end\n"
	const want = "panic: out of memory\n" + `{"msg":"trap","cause":"unreachable"}` + "\nthe end\n"
	for size := 1; size <= len(log); size++ {
		var got strings.Builder
		w := workerd.Causes(&got)
		for rest := log; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := io.WriteString(w, rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want {
			t.Errorf("pieces of %d bytes: %q", size, got.String())
		}
	}
}
