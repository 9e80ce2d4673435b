// Package settings reads and writes the XML documents with which the owner of an account configures it: the stored
// access policies of a table (Set Table ACL) and the properties of the service (logging, metrics and CORS). It also
// applies the CORS rules to a browser's request.
//
//	p := settings.Defaults()
//	err := p.Update(body)                      // PUT /?restype=service&comp=properties
//	fields := p.CORS.Actual(origin, "GET", response.Header)
//
// Documents are parsed as the service does: elements in any order and any namespace, with or without a byte order
// mark, an XML declaration, and blanks between elements. Unknown elements are skipped, because newer clients send
// newer elements. A document that breaks a rule is refused with InvalidXmlDocument, the service's code for most such
// errors. The message names the element and what to change.
//
// The Append functions write the document that clients receive and stores keep. The document begins with the XML
// declaration. The caller must put a UTF-8 byte order mark before a document that it sends to a client, as the
// service does. The mark is not stored.
//
// Logging and metrics settings are only stored and returned; they have no effect. Package sas enforces the policies.
package settings
