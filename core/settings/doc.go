// Package settings reads and writes the XML documents with which the owner of an account configures it: the stored
// access policies of a table (Set Table ACL) and the properties of the service (logging, metrics and CORS). It also
// applies the CORS rules to a browser's request.
//
//	p := settings.Defaults()
//	err := p.Update(body)                      // PUT /?restype=service&comp=properties
//	fields := p.CORS.Actual(origin, "GET", response.Header)
//
// As in the service, the elements of a document may be in any order and any namespace, with or without a byte order
// mark, an XML declaration, and blanks between elements. Unknown elements are skipped, because newer clients send newer
// elements. An invalid document is rejected with InvalidXmlDocument, the service's code for most such errors. The
// message names the element and what to change.
//
// The Append functions write documents in the form that clients receive and stores hold. A document begins with the XML
// declaration. As in the service, the caller must put a UTF-8 byte order mark before a document that it sends to a
// client. The mark is not stored.
//
// Logging and metrics settings are only stored and returned. They have no effect. Package sas enforces the access
// policies.
package settings
