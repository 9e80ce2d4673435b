// Package xml reads and writes the XML of the protocol: entities and feeds as
// Atom, access policies, service properties and errors. It implements only the
// part of XML 1.0 with namespaces that these need, and is strict because the
// input is not trusted.
//
// A document is UTF-8 with one root element. Document types are refused, so the
// only entities are the five predefined ones. Elements nest to a depth of
// [MaxDepth], have at most [MaxAttributes] attributes, and at most
// [MaxNamespaces] namespaces are declared at any place. Every other error is a
// [*SyntaxError]: mismatched tags, a repeated attribute, an undeclared prefix,
// characters that XML does not have. Comments and processing instructions are
// skipped.
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
// To write a document, the caller appends the markup unchanged, and the text in
// it with [AppendText] and [AppendAttr], which escape it.
package xml
