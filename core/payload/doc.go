// Package payload reads and writes the bodies of requests and responses: entities, feeds of entities, tables and
// errors, as OData 3 JSON or, for clients from before 2013, as Atom. It also writes the ETag and URI of an entity,
// and the $metadata document.
//
// Readers convert a request body to encoded properties in one pass ([ReadEntity], [ReadAtomEntity]). Writers append a
// response to a buffer from encoded properties ([View.AppendEntity]). Neither uses maps or reflection for properties. A
// [Format] is one representation on the wire:
//
//	v := payload.View{Format: payload.Minimal, Base: "https://acct.table.core.windows.net/", Account: "acct", Table: "people"}
//	body = v.AppendFeedStart(body[:0])
//	for i, row := range page.Rows {
//		body = v.AppendFeedEntity(body, i, …)
//	}
//	body = v.AppendFeedEnd(body)
//	err := v.Err() // XML cannot hold every string
//
// Every error is a *[table.Error] with the code and text of the service, followed by a hint for the sender.
package payload
