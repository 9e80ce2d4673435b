// Package payload reads and writes the bodies of requests and answers: entities,
// feeds of them, tables and errors as OData 3 JSON or, for clients of before
// 2013, as Atom, and the texts that go with an entity, its ETag and its URI.
//
// A request body becomes encoded properties in one pass over its bytes
// ([ReadEntity], [ReadAtomEntity]), and an answer is appended to a buffer from
// encoded properties ([View.AppendEntity]); nothing in between is a map or goes
// through reflection. The readers of both formats collect what a body says of
// each property, and one function judges that; the writers of both are told of
// one function what an answer has. A [Format] is one representation on the wire:
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
// followed by what the sender should change.
package payload
