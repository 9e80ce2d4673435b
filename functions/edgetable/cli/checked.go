package cli

import "io"

// Checked is standard output that remembers what went wrong: a command that says nothing of it must not end as if all were
// printed.
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
