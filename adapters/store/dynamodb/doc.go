// Package dynamodb stores records and entities in one DynamoDB table.
//
//	store, err := dynamodb.New(dynamodb.Options{Client: client, Table: "edgetable"})
//
// # Items
//
// Every item has a binary hash key .p and a binary sort key .s. The hash key of an entity consists of the incarnation
// of its table and the bucket of its partition. The sort key is the encoded key of the entity (package key). All
// entities of a partition are therefore adjacent under one hash key, and a scan of a whole table merges its buckets.
// Records of the catalog, chunks of large entities, and notes for Purge have other hash keys.
//
// Each property of an entity is an attribute with the property's name. A type that DynamoDB has is stored as a native
// attribute. Any other type is stored as a map with one entry, whose key names the type:
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
// The names of store attributes begin with a dot, and no property name does: .t is the Timestamp, .o is the nonce, .n
// and .z are upper bounds of the number of properties and of the item's size, and .c names the chunks of an entity that
// is too large for one item.
//
// # Structure
//
// Package attribute converts values to attributes, and back. Package call makes calls, classifies failed calls, decides
// which calls may be retried, and writes expressions. Package filter translates a $filter to a filter expression.
// Package rebucket moves a table to another number of buckets. This package implements the catalog, entities, chunks
// and Purge. All operations find their table through access.go, which handles leases and moves.
//
// # Guarantees
//
// Reads are strongly consistent, writes are conditional, and batches are atomic. A page of a scan may show part of a
// concurrent batch.
//
// Timestamps follow the clock of the process. The Timestamps of an existing entity increase with every write, whichever
// process writes. Across a delete they increase within one process, except for a write with an unknown outcome that is
// applied after its reply. A delete and an insert by different processes are not ordered: the new entity may have a
// lower Timestamp than the deleted entity if the two calls overlap or the clocks of the processes differ. Two processes
// that write within 10 µs may issue the same Timestamp, about once in a hundred times.
//
// Each process may cache a table's record for two seconds, under a lease. Drop waits until all leases have ended, and
// so does Rebucket before its last comparison of the table with its copy. The outcome of a call is valid only if the
// reply arrived before the end of the lease, or if the process reads the record again and finds it unchanged. No
// acknowledged write is therefore lost when a table moves.
//
// # Expiry
//
// No expiry time is stored with an entity. Instead, a write has the condition that the entity is certain not to have
// expired: its Timestamp, or the property with its expiry time, is late enough. If the entity has expired, or DynamoDB
// cannot decide, the condition fails and returns the entity. The store then checks the expiry, and repeats the write on
// condition that the state is unchanged. A read checks all entities at one point in time. Processes cache the expiry
// rule with the record, so a change of the rule waits until all leases have ended.
//
// One process at a time removes the expired entities of a table ([table.Sharing]). Each entity is deleted by a separate
// call, at half the price of a transaction. DynamoDB's TTL is not used, because it is not documented whether DynamoDB
// checks an item again before it deletes the item.
//
// No request uses a DynamoDB Scan.
package dynamodb
