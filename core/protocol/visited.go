//go:build !tinygo

package protocol

import (
	"edgetable/core/odata"
	"edgetable/core/table"
)

func (c *call) visitEntity() {
	v := &c.visit
	c.resp.Visit = v
	v.PartitionKey, v.RowKey, v.InPartition, v.Entities = c.route.PartitionKey, c.route.RowKey, true, 1
}

func (c *call) visited(row *table.Row) {
	c.visit.Bytes = len(row.Key) + len(row.Properties)
}

func (c *call) visitQuery(f *odata.Filter, from []byte) {
	c.visit = Visit{Query: true, Filter: f, From: from, Tool: c.req.Header.Get(ToolHeader) != ""}
	c.resp.Visit = &c.visit
	if c.options.Filter != nil {
		c.visit.Text = *c.options.Filter
	}
}

func (c *call) visitedPage(page *table.Page) {
	c.visit.Next, c.visit.ScannedBytes = page.Next, page.Scanned
}

func (c *call) visitWrite(ops ...table.Operation) {
	v := Visit{PartitionKey: ops[0].PartitionKey, RowKey: ops[0].RowKey, InPartition: true, Write: true, Entities: len(ops), Tool: c.req.Header.Get(ToolHeader) != ""}
	for i := range ops {
		op := &ops[i]
		n := len(op.PartitionKey) + len(op.RowKey) + len(op.Properties)
		v.Bytes += n
		v.Largest = max(v.Largest, n)
		if op.Action == table.Insert || op.Action == table.InsertOrReplace || op.Action == table.InsertOrMerge {
			v.Inserts++
		}
	}
	c.visit = v
	c.resp.Visit = &c.visit
}
