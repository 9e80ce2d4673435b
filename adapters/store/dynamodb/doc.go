// Package dynamodb keeps records and entities in one DynamoDB table.
//
//	store, err := dynamodb.New(dynamodb.Options{Client: client, Table: "edgetable"})
//
// # Items
//
// Every item has a binary hash key .p and a binary sort key .s. The hash key of an entity consists of the incarnation of
// its table and the bucket of its partition; the sort key is its encoded key (package key). So all entities of a
// partition are adjacent under one hash key, and a scan of a whole table merges its buckets. Other items have hash keys
// of their own: the records of the catalog, the chunks of large entities, and notes. A note tells Purge what to remove.
//
// The properties of an entity are attributes under their own names. They are native if DynamoDB has the type, else a map
// of one entry that names the type:
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
// The store's own attributes begin with a dot, which a property's name cannot: .t is the Timestamp, .o the nonce, .n and
// .z are upper bounds of the number of properties and of the item's size, .c names the chunks of an entity that is too
// large for one item.
//
// # Structure
//
// Package attribute converts values to attributes, and back. Package call makes the calls: it knows what effect a failed
// call had, which calls may be repeated, and how expressions are written. Package filter translates a $filter to a filter
// expression. This package has the catalog, entities, chunks and Purge. Package rebucket moves a table to another number
// of buckets. Only access.go, through which all operations find their table, knows about leases and moves.
//
// # Guarantees
//
// Reads are strongly consistent, writes are conditional, and batches are atomic. A page of a scan may show part of a
// concurrent batch.
//
// Timestamps follow the clock of the process. The Timestamps of an existing entity rise with every write, whichever
// process writes. Across a delete they rise within one process, except for a write with an unknown outcome that is
// applied after its reply. A delete and an insert by different processes are not ordered: the new entity may have a lower
// Timestamp than the deleted entity if the two calls overlap or the clocks of the processes differ. Two processes that
// write within 10 µs may issue the same Timestamp, about once in a hundred times.
//
// Each process may cache a table's record for two seconds, under a lease. Drop waits until all leases have ended, and so
// does Rebucket before its last comparison of the table with its copy. The outcome of a call counts only if the reply
// arrived before the end of the lease, or if the process reads the record again and finds it unchanged. So no
// acknowledged write is lost when a table moves.
//
// # Expiry
//
// No expiry time is stored with an entity. Instead, a write has the condition that the entity has certainly not expired:
// its Timestamp, or the property with its expiry time, is late enough. If the entity has expired, or DynamoDB cannot
// tell, the condition fails and returns the entity. The store then checks the expiry itself, and repeats the write on
// condition that the state is still the same. A read checks all entities for one point in time. A process knows the
// expiry rule from the cached record. So a change of the rule waits, like a drop, until all leases have ended.
//
// One process at a time removes the expired entities of a table ([table.Sharing]). Each entity is deleted by a separate
// call, at half the price of a transaction. DynamoDB's TTL is not used, because it is not documented whether DynamoDB
// checks an item again before it deletes the item.
//
// No request reads the table by a DynamoDB Scan.
package dynamodb
