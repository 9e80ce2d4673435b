// Package settings holds what an account's owner may set by XML documents: the
// stored access policies of a table (Set Table ACL) and the properties of the
// service (logging, metrics and CORS), and it answers what the CORS rules say
// about a request from a browser.
//
//	p := settings.Defaults()
//	err := p.Update(body)                      // PUT /?restype=service&comp=properties
//	fields := p.CORS.Actual(origin, "GET", response.Header)
//
// The documents are read the way the service reads them: elements may come in
// any order and in any namespace, with or without a byte order mark, an XML
// declaration and blanks between them; elements that nobody knows are skipped,
// since newer clients send newer ones. A document that breaks a rule is refused
// with the code the service has for all of them, InvalidXmlDocument, and a
// message that names the element and what to change.
//
// What the Append functions write is both what a client gets and what a store
// keeps. It begins with the XML declaration. The service puts a UTF-8 byte order
// mark before it; that is for the caller to do on the wire, and is not stored.
//
// Nothing here has an effect by itself: logging and metrics are stored and given
// back, policies are enforced by package sas.
package settings
