package cli

import (
	"strings"

	"edgetable/functions/edgetable/wide"
)

// Wrap wraps text to the width of the terminal, with all lines but the first indented. If the output is not a terminal,
// the text is returned unchanged.
func (p *Terminal) Wrap(indent int, text string) string {
	if p.Columns == 0 {
		return text
	}
	return wrap(p.Columns, indent, text)
}

// wrap wraps text to the given width, with all lines but the first indented.
func wrap(columns, indent int, text string) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		n := wide.Of(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
