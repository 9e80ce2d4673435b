// Package dynamodb keeps records and entities in one DynamoDB table.
//
//	store, err := dynamodb.New(dynamodb.Options{Client: client, Table: "edgetable"})
//
// # Items
//
// Every item has a binary hash key .p and a binary sort key .s. The hash key of an
// entity is the incarnation of its table and the bucket of its partition; the sort
// key is its encoded key (package key). So a partition is a range of one hash key, and
// a whole table is the merge of its buckets. The catalog, chunks of large entities and
// notes for Purge have hash keys of their own.
//
// The properties of an entity are attributes under their own names. They are native if
// DynamoDB has the type, else a map of one entry that names the type:
//
//	Name   S    "Ada"                        Edm.String
//	Photo  B    …                            Edm.Binary
//	Active BOOL true                         Edm.Boolean
//	Age    N    36                           Edm.Int32
//	Visits M    {"Int64": {"N": "12"}}       Edm.Int64
//	Score  M    {"Double": {"N": "0.5"}}     Edm.Double, as S where N cannot hold it: "NaN", "5E-324", "-0.0"
//	Born   M    {"DateTime": {"S": "1815-12-10T00:00:00Z"}}
//	ID     M    {"Guid": {"S": "…"}}
//
// The store's own attributes begin with a dot, which a property's name cannot: .t is
// the Timestamp, .o the nonce, .n and .z are upper bounds of the number of properties
// and of the item's size, .c names the chunks of an entity that is too large for one
// item.
//
// # Structure
//
// Package call makes the calls: what a failure says about the effect, what is tried
// again, how expressions are written. This package has the catalog, entities, chunks
// and Purge. Package rebucket moves a table to another number of buckets. Operations
// reach a table through access.go alone, which knows about leases and moves.
//
// # Guarantees
//
// Reads are strong, writes conditional and batches atomic. A page of a scan may
// show part of a concurrent batch.
//
// Timestamps follow the clock of the process. Those of an existing entity rise with every write, whichever process
// writes. Across a delete they rise within one process, except for a write with an unknown outcome that is applied
// after its reply. A delete and an insert by different processes are not ordered: the new entity may have a lower
// Timestamp than the deleted one if the two overlap or the clocks of the processes differ. Two processes that write
// within 10 µs may issue the same Timestamp, about once in a hundred times.
//
// A table's record may be cached under a lease of two seconds. Drop waits until all
// leases have ended, and so does Rebucket before it compares for the last time. The
// outcome of a call counts only if its reply came before that, or if the record,
// read again, is the same: no acknowledged write is lost when a table moves.
//
// # Expiry
//
// No expiry time is stored with an entity. Instead, the condition of a write requires that the entity has certainly
// not ended: the property with the instant, or the Timestamp, is late enough. If the entity has ended, or DynamoDB
// cannot tell, the condition fails and returns the entity. Core then judges it, and the write is repeated on
// condition that the state is still the same. A read judges all entities at one instant. A process knows the rule
// from its lease. So writing a record with other traits takes, like a drop, until all leases have ended.
//
// Upkeep removes entities that have ended; the processes take turns ([table.Sharing]). Each entity is deleted by a
// call of its own, at half the price of a transaction. DynamoDB's TTL is not used, because it is not documented
// whether DynamoDB checks an item again before it deletes it.
//
// No request reads the table by a DynamoDB Scan.
package dynamodb
