// Package remote is a client of table services: edgetable in all its deployments, Azure, Azurite and Cosmos DB for
// Table.
//
// [ParseConnection] parses a connection string or the URL of a shared access signature, and [New] returns a [Client]. A
// Client signs requests, and retries a request if the service is temporarily unavailable. It lowers the number of
// requests in flight when the service is overloaded.
//
//	c := remote.New(endpoint, 16)
//	for e, err := range c.Entities(ctx, remote.Query{Table: "People", Filter: "Born gt 1900"}) {
//		…
//	}
//	err := c.Batch(ctx, "People", operations)
//
// An error response is returned as an *[Error].
package remote
