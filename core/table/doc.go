// Package table is the meaning of a table: what an entity may hold, which write
// is allowed, what a merge, an ETag and an entity group transaction are, how a
// query is cut into pages, and the errors that say so. [Service] is the one
// implementation of it, over any [Store].
//
//	svc := table.New(store, table.Options{Now: now, Rand: rand})
//	blogs := table.Name{Account: "acct", Table: "Blogs"}
//	err := svc.CreateTable(ctx, blogs)
//	etag, err := svc.Write(ctx, blogs, table.Operation{
//		Action: table.Insert, PartitionKey: "p", RowKey: "r", Properties: props,
//	})
//
// The package knows nothing of HTTP, JSON or signatures (package protocol), and
// nothing of files or networks (the stores).
package table
