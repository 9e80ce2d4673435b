package cli

import "io"

// Checked is standard output that keeps the first error of a write. A command whose output was lost must not exit with 0.
type Checked struct {
	io.Writer
	Err error // the first one
}

func (c *Checked) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil && c.Err == nil {
		c.Err = err
	}
	return n, err
}
