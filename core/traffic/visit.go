package traffic

// Visit is one request to the entities of a table. Its strings and slices may share memory with the request; a
// Counter copies the parts that it stores.
type Visit struct {
	Account, Table string
	// PartitionKey and RowKey identify the entity, or the first entity in a transaction, if InPartition is set. A query
	// of one partition has only PartitionKey.
	PartitionKey, RowKey string
	InPartition          bool
	Write                bool
	// Entities is the number of entities that were read or written by key. Inserts is the number of them that may be
	// new. Bytes is the total length of their keys and properties, and Largest is the length of the largest entity.
	Entities, Inserts, Bytes, Largest int
	// Tool is set for writes of edgetable's tools. Such writes are counted only in Hour, on which no advice about a
	// table is based.
	Tool bool
	// Batch is set if the writes were an entity group transaction.
	Batch bool
	// Throttled is set if a rate limit refused the request. Such a request is counted only as throttled.
	Throttled bool

	// Plan says how wide the key ranges of a query are (the field Kind of odata.Plan); "" means no query. Shape is the
	// filter without its values, and Example is the filter as sent.
	Plan, Shape, Example string
	// First is set on the first page of a query.
	First bool
	// From and To are the encoded keys between which the page of a query was read; a nil To means the end of the table.
	// For other requests, From is the encoded key of the entity, or nil.
	From, To                        []byte
	Scanned, ScannedBytes, Returned int
}

// byKey reports whether the request read entities by key.
func (v *Visit) byKey() bool { return !v.Write && v.Plan == "" && !v.Throttled }
