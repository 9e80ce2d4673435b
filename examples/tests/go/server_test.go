package people

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var connection = regexp.MustCompile(`connection string +(\S+)`)

// startServer starts edgetable in memory and returns the connection string of its account. The
// server stops when the test ends, and also when this process ends in any other way.
func startServer(t *testing.T) string {
	t.Helper()
	c := exec.Command(cmp.Or(os.Getenv("EDGETABLE_BINARY"), "edgetable"), "serve", "--memory", "--listen", "127.0.0.1:0", "--until-eof")
	var log strings.Builder
	c.Stderr = &log
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("edgetable: %v\n%s", err, &log)
		}
	})
	found := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := connection.FindStringSubmatch(lines.Text()); m != nil && found == "" {
			found = m[1]
		}
		if lines.Text() == "ready" {
			return found
		}
	}
	t.Fatalf("edgetable did not start: %s", &log)
	return ""
}
