// Package xml reads and writes the protocol's XML: entities and feeds as Atom, access policies, service properties
// and errors. It implements only the part of XML 1.0 with namespaces that these documents need, and is strict because
// the input is not trusted.
//
// A document is UTF-8 with one root element. Document types are refused, so the only entities are the five predefined
// ones. Elements nest to a depth of at most [MaxDepth] and have at most [MaxAttributes] attributes; at most
// [MaxNamespaces] namespaces are in scope at any point. Mismatched tags, repeated attributes, undeclared prefixes,
// illegal characters and exceeded limits are a [*SyntaxError]. Comments and processing instructions are skipped.
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
// To write a document, append the markup as it is, and its text with [AppendText] and [AppendAttr], which escape it.
package xml
