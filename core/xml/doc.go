// Package xml reads and writes the XML of the protocol: entities and feeds as Atom, access policies, service properties
// and errors. It implements the part of XML 1.0 with namespaces that these documents need. It is strict because the
// input is not trusted.
//
// A document is UTF-8 with one root element. Document types are rejected, so the only entities are the five predefined
// ones. Elements nest to a depth of at most [MaxDepth] and have at most [MaxAttributes] attributes. At most
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
// To write a document, append the markup as it is, and escape its text with [AppendText] and [AppendAttr].
package xml
