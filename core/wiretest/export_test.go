package wiretest

import "golang.org/x/tools/txtar"

// These functions have tests of their own.
var (
	Expand     = expand
	Lines      = lines
	Unlines    = unlines
	Addressed  = addressed
	NewServer  = newHandler
	Difference = difference
)

// Parse parses the text of an archive.
func Parse(text string) (*Transcript, error) { return parse("x.txtar", txtar.Parse([]byte(text))) }

// Text returns the text of a response.
func (r *Response) Text(method string) (string, error) { return r.text(method) }
