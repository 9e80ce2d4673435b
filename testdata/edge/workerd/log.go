package workerd

import (
	"bytes"
	"io"
	"testing"

	"edgetable/testdata/proc"
)

// Log returns a writer for [Options.Log]; a failed test shows the end of its text. Lines of the access log are omitted,
// because they would hide the cause of the failure.
func Log(t testing.TB) io.Writer { return Causes(proc.Log(t)) }

// Causes returns a writer that passes on all lines except lines of the access log.
func Causes(to io.Writer) io.Writer { return &causes{to: to} }

type causes struct {
	to   io.Writer
	line []byte // an incomplete line
}

func (c *causes) Write(p []byte) (int, error) {
	c.line = append(c.line, p...)
	for {
		end := bytes.IndexByte(c.line, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := c.line[:end+1]
		c.line = c.line[end+1:]
		if bytes.HasPrefix(line, []byte(`{"msg":"request"`)) {
			continue
		}
		if _, err := c.to.Write(line); err != nil {
			return 0, err
		}
	}
}
