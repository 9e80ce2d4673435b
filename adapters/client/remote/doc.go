// Package remote is a client of table services: edgetable in all its homes,
// Azure, Azurite and Cosmos DB for Table.
//
// [ParseConnection] reads a connection string or the URL of a shared access signature; [New] makes a [Client]. A
// Client signs with core/sharedkey, reads and writes entities with core/payload, retries requests that a service
// temporarily could not serve, and limits the requests in flight: fewer when the service refuses some, more again
// when it does not.
//
//	c := remote.New(endpoint, 16)
//	for e, err := range c.Entities(ctx, remote.Query{Table: "People", Filter: "Born gt 1900"}) {
//		…
//	}
//	err := c.Batch(ctx, "People", operations)
//
// An error response is returned as an *[Error].
package remote
