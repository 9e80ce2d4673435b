package transfer

import "edgetable/core/payload"

// previewRows is how many rows of a file a dry run shows.
const previewRows = 5

// previewed shows the first rows of a file.
type previewed struct {
	rows
	left int
	show func(entity []byte)
}

func (p *previewed) next() (row, error) {
	one, err := p.rows.next()
	if err == nil && p.left > 0 {
		p.left--
		p.show(payload.AppendJSON(nil, one.pk, one.rk, 0, one.properties))
	}
	return one, err
}
