// Package core is the portable part of edgetable. Its subpackages implement the protocol of a table store without a
// network, files or a system clock, so that the same code runs in a server, a Lambda function and a Worker. The package
// itself is empty. Each subpackage depends only on subpackages before it in this list:
//
//	edm, key                         the types of properties; the encoding and order of keys
//	multipart, xml                   the bodies of batches; XML documents
//	percent, httpdate                percent-encoding; dates of HTTP
//	version, firewall                protocol versions; the addresses that an account accepts
//	objects, commitlog               the port to object storage; what a store says about its log of commits
//	sharedkey                        signatures with an account key
//	throttle, fair                   rate limits; the order of waiting requests
//	odata                            $filter, $orderby, $select and $top
//	traffic                          statistics about the keys that requests use
//	table                            entities, transactions, pages, errors; the Store port
//	address                          the account, the resource and the query options in a request's URL
//	payload                          JSON and Atom of entities, feeds and errors
//	negotiate                        the format of a body, and the form of answer that the client wants
//	sas                              shared access signatures
//	settings                         access policies, service properties, CORS
//	continuation                     continuation tokens of pages
//	changefeed                       requests for the changes of a table
//	protocol                         from a request to an operation, and to its response
//	accounts                         the list of accounts, their keys and firewalls
//	buckets                          ordered pages from stores that spread a table over hash keys
//	storetest, wiretest              tests that every store and every transport must pass
//
// A request passes through these packages and types in this order:
//
//	bytes → protocol.Request → sharedkey → address → payload, multipart, odata → table.Service → Store
//	bytes ← protocol.Response ←────────────────────── payload, multipart ←┘
package core
