// Package dynamodb stores records and entities in one DynamoDB table.
//
//	store, err := dynamodb.New(dynamodb.Options{Client: client, Table: "edgetable"})
//
// # Items
//
// Every item has a binary hash key .p and a binary sort key .s. The hash key of an entity consists of the incarnation
// of its table and the bucket of its partition. The sort key is the encoded key of the entity (package key). All
// entities of a partition are therefore adjacent under one hash key. A scan of a whole table merges its buckets.
// Records of the catalog, chunks of large entities, and notes for Purge have other hash keys.
//
// Each property of an entity is an attribute with the property's name. A value of a type that DynamoDB lacks is stored
// as a map with one entry, whose key names the type:
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
// The names of store attributes begin with a dot, and no property name does (layout.go). For example, .t is the
// Timestamp, and .c names the chunks of an entity that is too large for one item.
//
// # Structure
//
// This package implements the catalog, entities, chunks and Purge. All operations find their table through access.go,
// which handles leases and moves. The other packages are:
//
//   - attribute converts values to attributes, and back.
//   - call makes calls, classifies failed calls, retries calls and writes expressions.
//   - clock issues Timestamps.
//   - filter translates a $filter to a filter expression.
//   - rebucket moves a table to another number of buckets.
//
// # Guarantees
//
// Reads are strongly consistent, writes are conditional, and batches are atomic. A page of a scan may show part of a
// concurrent batch.
//
// Timestamps follow the clock of the process:
//
//   - The Timestamps of an existing entity increase with every write, whichever process writes.
//   - If one process deletes an entity and inserts it again, the Timestamp increases, except for a write with an unknown
//     outcome that is applied after its reply.
//   - If one process deletes an entity and another process inserts it, the new entity may have a lower Timestamp. This
//     can happen if the two calls overlap or the clocks of the processes differ.
//   - Two processes that write within 10 µs may issue the same Timestamp, about once in a hundred times.
//
// Each process may cache a table's record for two seconds, under a lease. Drop waits until all leases have ended, and
// so does Rebucket before its last comparison of the table with its copy. The outcome of a call is valid if the reply
// arrives before the end of the lease. For a later reply, the process reads the record again and checks that it is
// unchanged. No acknowledged write is therefore lost when a table moves.
//
// # Expiry
//
// No expiry time is stored with an entity. Instead, a write has the condition that the entity is certain not to have
// expired: its Timestamp, or the property with its expiry time, is late enough. If the entity has expired, or DynamoDB
// cannot decide, the condition fails and returns the entity. The store then checks the expiry, and repeats the write on
// condition that the state is unchanged. A read checks all its entities at the same point in time.
//
// Processes cache the expiry rule with the record. A change of the rule therefore waits until all leases have ended.
//
// One process at a time removes the expired entities of a table ([table.Sharing]). It deletes each entity with a
// separate call, at half the price of a transaction. It does not use DynamoDB's TTL, because the documentation does not
// say whether DynamoDB checks an item again before it deletes the item.
//
// No request uses a DynamoDB Scan.
package dynamodb
