//go:build tinygo

package protocol

import (
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Visit is empty, because a TinyGo module keeps no traffic statistics.
type Visit struct{}

func (c *call) visitEntity()                      {}
func (c *call) visited(*table.Row)                {}
func (c *call) visitQuery(*odata.Filter, []byte)  {}
func (c *call) visitedPage(*table.Page)           {}
func (c *call) visitWrite(ops ...table.Operation) {}
