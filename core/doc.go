// Package core is the portable part of edgetable: the semantics of a table store, written once, without a network,
// files or a clock of its own, so that the same code runs in a server, a Lambda function and a Worker. The package
// itself is empty. Its parts, innermost first:
//
//	edm, key, multipart, xml         types, key order, batches, documents: leaves,
//	percent, httpdate                as are escapes and dates
//	sharedkey                        signatures with an account key
//	throttle                         rates
//	odata                            $filter and $select
//	table                            entities, transactions, pages, errors; the Store port
//	payload                          JSON and Atom of entities, feeds and errors
//	sas                              shared access signatures
//	settings                         access policies, service properties, CORS
//	continuation                     tokens of pages
//	protocol                         requests to operations to responses
//	accounts                         the list of accounts, their keys and firewalls
//	buckets                          ordered pages of a table that a store spreads over hash keys
//	memstore                         the reference Store
//	storetest, wiretest              what every store and every transport must pass
//
// A request passes through them in this order:
//
//	bytes → protocol.Request → sharedkey → route → payload, multipart, odata → table.Service → Store
//	bytes ← protocol.Response ←────────────────────── payload, multipart ←┘
package core
