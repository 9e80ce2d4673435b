package main

import (
	"os"
	"os/exec"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestUntilEOF checks that a server with --until-eof stops with status 0 when its parent process
// has ended. Without the flag, the server must ignore standard input.
func TestUntilEOF(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must.OK(t, err)
	for _, flags := range [][]string{{"--until-eof"}, nil} {
		c := exec.Command(self, append([]string{"serve", "--memory", "--listen", "127.0.0.1:0"}, flags...)...)
		c.Env = append(os.Environ(), mainVariable+"=1")
		in, err := c.StdinPipe()
		must.OK(t, err)
		p := proc.Start(t, "ready", c)
		endpoint := p.Value(t, "endpoint")
		must.OK(t, in.Close())
		if flags != nil {
			if err := p.Wait(); err != nil {
				t.Errorf("%q: the server ended with %v", flags, err)
			}
		} else if status, text := get(t, endpoint+"/_/live"); status != 200 && status != 401 && status != 403 {
			t.Errorf("the server does not serve after its standard input ended: %d %s", status, text)
		}
	}
}
