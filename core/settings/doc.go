// Package settings reads and writes the XML documents by which the owner of an
// account configures it: the stored access policies of a table (Set Table ACL)
// and the properties of the service (logging, metrics and CORS). It also
// applies the CORS rules to a request from a browser.
//
//	p := settings.Defaults()
//	err := p.Update(body)                      // PUT /?restype=service&comp=properties
//	fields := p.CORS.Actual(origin, "GET", response.Header)
//
// The documents are read the way the service reads them: elements may come in
// any order and in any namespace, with or without a byte order mark, an XML
// declaration and blanks between them. Unknown elements are skipped, because
// newer clients send newer elements. A document that breaks a rule is refused
// with InvalidXmlDocument, the service's code for most of these errors, and a
// message that names the element and what to change.
//
// The Append functions write the document that a client gets and a store keeps.
// It begins with the XML declaration. The service sends a UTF-8 byte order mark
// before it; the caller must add the mark on the wire, and does not store it.
//
// This package only stores logging and metrics and returns them; they have no
// effect. Package sas enforces the policies.
package settings
