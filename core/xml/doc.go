// Package xml reads and writes the XML of the protocol: entities and feeds as
// Atom, access policies, service properties and errors. It knows the part of
// XML 1.0 with namespaces that these need, and is strict about it because
// strangers send it.
//
// A document is UTF-8 with one root element. There are no document types and so
// no entities but the five predefined; elements nest to a depth of [MaxDepth],
// have at most [MaxAttributes] attributes, and at most [MaxNamespaces]
// namespaces are declared at any place. Whatever else is not well-formed is a
// [*SyntaxError]: mismatched tags, an attribute given twice, an undeclared
// prefix, characters XML does not have. Comments and processing instructions
// are skipped.
//
//	r := xml.NewReader(body)
//	for {
//		kind, err := r.Next()
//		…
//		if kind == xml.Start && r.Local() == "Id" {
//			id, err = r.Content()
//		}
//	}
//
// Writing is appending: markup is written as it is, and [AppendText] and
// [AppendAttr] escape what goes between.
package xml
