package traffic

// Visit is one request to the entities of a table. The strings and slices may
// share memory with the request. The counter copies the parts that it keeps.
type Visit struct {
	Account, Table string
	// PartitionKey and RowKey are those of the entity, or of the first entity of a
	// transaction. They are set if InPartition; a query of one partition sets
	// PartitionKey alone.
	PartitionKey, RowKey string
	InPartition          bool
	Write                bool
	// Entities is the number that was read or written by key, Inserts is how many
	// of them may be new, Bytes is the length of their keys and properties, and
	// Largest is that of the largest.
	Entities, Inserts, Bytes, Largest int
	// Tool says that a tool of edgetable writes: that counts as use, and is not judged.
	Tool bool
	// Batch says that the writes were a transaction.
	Batch bool
	// Throttled requests were refused because of a rate; nothing else is counted.
	Throttled bool

	// Plan is set for queries: the word of odata.Plan. Shape is the filter without
	// its values, and Example the filter as sent.
	Plan, Shape, Example string
	// First says that the page is the first one of its query.
	First bool
	// From and To are the encoded keys between which the page was read; a nil To
	// is the end of the table. Without a query, From is nil or the encoded key.
	From, To                        []byte
	Scanned, ScannedBytes, Returned int
}

// byKey reports whether entities were read by their keys.
func (v *Visit) byKey() bool { return !v.Write && v.Plan == "" && !v.Throttled }
