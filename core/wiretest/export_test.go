package wiretest

import "golang.org/x/tools/txtar"

// What is tested by itself.
var (
	Expand     = expand
	Lines      = lines
	Unlines    = unlines
	Addressed  = addressed
	NewServer  = newHandler
	Difference = difference
)

// Parse is parse of an archive's text.
func Parse(text string) (*Transcript, error) { return parse("x.txtar", txtar.Parse([]byte(text))) }

// Text is the text of a response.
func (r *Response) Text(method string) (string, error) { return r.text(method) }
