//go:build !tinygo

package protocol

import "edgetable/core/odata"

// Visit describes which entities an operation accessed, for traffic statistics. It contains keys and values,
// so it must not be logged. The handler sets it before the rate limits are checked. In TinyGo it is always
// empty.
type Visit struct {
	// If InPartition is set, PartitionKey and RowKey are the keys of the entity, or of the first entity of a
	// transaction.
	PartitionKey, RowKey string
	InPartition          bool
	Write                bool
	// Entities is the number of entities in a write or point read. Inserts is the number of entities that may be new. Bytes
	// is the total length of keys and properties, and Largest is the length of the largest entity.
	Entities, Inserts, Bytes, Largest int
	// Query is set for a page of a query. Filter is the query's filter, and Text is the filter as the client
	// sent it. The page started at the position From and ended at Next.
	Query      bool
	Filter     *odata.Filter
	Text       string
	From, Next []byte
	// Tool is set if the request comes from a tool of edgetable, such as an export, an import or the
	// explorer. Queries of tools are not counted.
	Tool         bool
	ScannedBytes int
}

// ToolHeader is the request header in which the tools of edgetable send their name.
const ToolHeader = "X-Edgetable-Tool"
