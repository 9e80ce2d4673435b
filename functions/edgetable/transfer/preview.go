package transfer

import (
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// previewRows is the number of rows of each file that a dry run shows.
const previewRows = 5

type previewed struct {
	rows.Reader
	left int
	show func(entity []byte)
}

func (p *previewed) Next() (rows.Row, error) {
	one, err := p.Reader.Next()
	if err == nil && p.left > 0 {
		p.left--
		p.show(payload.AppendJSON(nil, one.PartitionKey, one.RowKey, 0, one.Properties))
	}
	return one, err
}
