package workerd_test

import (
	"io"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// TestCauses checks that lines of the access log are omitted, even if the log is written in
// arbitrary pieces.
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
