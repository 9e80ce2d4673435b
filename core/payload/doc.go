// Package payload reads and writes the bodies of requests and responses:
// entities, feeds of entities, tables and errors, as OData 3 JSON or, for
// clients from before 2013, as Atom. It also writes the ETag and the URI of an
// entity, and the document $metadata.
//
// The readers convert a request body to encoded properties in one pass over its
// bytes ([ReadEntity], [ReadAtomEntity]). The writers append a response to a
// buffer from encoded properties ([View.AppendEntity]). Neither uses maps or
// reflection for the properties. The readers of both formats collect the
// members of a body, and one function checks them. For the writers of both
// formats, one function selects the properties of a response. A [Format] is one
// representation on the wire:
//
//	v := payload.View{Format: payload.Minimal, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "people"}
//	body = v.AppendFeedStart(body[:0])
//	for i, row := range page.Rows {
//		body = v.AppendFeedEntity(body, i, …)
//	}
//	body = v.AppendFeedEnd(body)
//	err := v.Err() // XML cannot hold every string
//
// Every error is a *[table.Error] with the code and the text of the service,
// followed by a hint what the sender should change.
package payload
