// Package remote is a client of table services: edgetable in all its homes,
// Azure, Azurite and Cosmos DB for Table.
//
// [ParseConnection] reads a connection string or the URL of a shared access
// signature; [New] makes a [Client]. A Client signs with core/sharedkey, reads
// and writes entities with core/payload, repeats what a service could not do at
// the moment, and limits the requests under way: fewer when the service refuses
// some, more again when it does not.
//
//	c := remote.New(endpoint, 16)
//	for e, err := range c.Entities(ctx, remote.Query{Table: "People", Filter: "Born gt 1900"}) {
//		…
//	}
//	err := c.Batch(ctx, "People", operations)
//
// An answer that is an error is an *[Error].
package remote
