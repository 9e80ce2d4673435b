// Package table implements the semantics of tables: the limits of an entity, the conditions of writes, merges, ETags,
// entity group transactions, the pages of a query, and the errors. A [Service] implements them over any [Store].
//
//	svc := table.New(store, table.Options{Now: now, Rand: rand})
//	blogs := table.Name{Account: "acct", Table: "Blogs"}
//	err := svc.CreateTable(ctx, blogs)
//	etag, err := svc.Write(ctx, blogs, table.Operation{
//		Action: table.Insert, PartitionKey: "p", RowKey: "r", Properties: props,
//	})
//
// The package is independent of HTTP, JSON and signatures (see package protocol), and of files and networks (see the
// stores).
package table
