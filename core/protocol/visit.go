//go:build !tinygo

package protocol

import "edgetable/core/odata"

// Visit describes which entities an operation accessed, for traffic statistics. It is set before the rate limits are
// checked, and must not be logged. In TinyGo it is empty.
type Visit struct {
	// PartitionKey and RowKey are the keys of the entity, or of the first entity of a transaction. They are valid if
	// InPartition is set.
	PartitionKey, RowKey string
	InPartition          bool
	Write                bool
	// Entities is the number of entities in a write or point read. Inserts is the number of them that may be new. Bytes
	// is the total length of their keys and properties, and Largest is the length of the largest entity.
	Entities, Inserts, Bytes, Largest int
	// Query is set for a page of a query. Filter is the parsed filter, and Text is the filter as sent. The page started
	// at the position From and ended at Next.
	Query      bool
	Filter     *odata.Filter
	Text       string
	From, Next []byte
	// Tool is set for requests from edgetable's tools, such as export, import and the explorer. Their queries are not
	// counted.
	Tool         bool
	ScannedBytes int
}

// ToolHeader is the request header in which edgetable's tools send their name.
const ToolHeader = "X-Edgetable-Tool"
