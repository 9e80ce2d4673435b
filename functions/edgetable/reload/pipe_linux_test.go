package reload

import (
	"fmt"
	"io"
	"os"
	"testing"

	"edgetable/testdata/must"
)

// TestStampOfPipe checks that StampOf leaves the content of a pipe to the caller, as in 'serve --accounts <(command)'.
func TestStampOfPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must.OK(t, err)
	_, err = w.WriteString("accounts")
	must.OK(t, err)
	must.OK(t, w.Close())
	StampOf(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	content, err := io.ReadAll(r)
	must.OK(t, err)
	if string(content) != "accounts" {
		t.Errorf("the pipe has %q after StampOf", content)
	}
}
