package cli

import "io"

// Checked is an io.Writer that remembers the first write error. A command whose output was lost must not exit with
// status 0.
type Checked struct {
	io.Writer
	Err error // first error of a write
}

func (c *Checked) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil && c.Err == nil {
		c.Err = err
	}
	return n, err
}
