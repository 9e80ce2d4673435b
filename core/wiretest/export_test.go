package wiretest

import "golang.org/x/tools/txtar"

// Expand, Lines and Unlines are expand, lines and unlines.
var (
	Expand  = expand
	Lines   = lines
	Unlines = unlines
)

// Parse is parse of an archive's text.
func Parse(text string) (*Transcript, error) { return parse("x.txtar", txtar.Parse([]byte(text))) }

// Text is the text of a response.
func (r *Response) Text(method string) (string, error) { return r.text(method) }

// Difference is difference.
var Difference = difference
