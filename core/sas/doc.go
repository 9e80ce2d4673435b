// Package sas signs and verifies shared access signatures: queries such as
//
//	?sv=2019-02-02&tn=orders&se=2030-01-01T00%3A00%3A00Z&sp=r&spk=emea&epk=emea&sig=…
//
// With such a query, the holder of an account key grants other people some operations for a limited time, without
// sharing the key. There are three kinds:
//
//	table       one table, entities only, perhaps a range of keys
//	account     the services, resource types and operations that the token names
//	delegation  like table, but signed with a key that the service issued to a user,
//	            so that the token allows no more than the user may do
//
// A server takes three steps:
//
//	token, err := sas.Parse(rawQuery)        // nil, nil: there is no signature
//	grant, err := token.Verify(account, c)   // signature, policy, time, source
//	err = grant.Allow(op, table)             // then grant.Range, grant.AllowEntity
//
// # What is signed
//
// The signature is an HMAC-SHA256 over lines that are joined by line feeds. The lines are the values of the query's
// parameters, decoded but otherwise as the client wrote them. The kind and the version (sv) determine which lines are
// signed, and in which order:
//
//	table, sv < 2015-04-05   sp st se resource si sv spk srk epk erk
//	table                    sp st se resource si sip spr sv spk srk epk erk
//	account                  account sp ss srt st se sip spr sv "" , since 2020-12-06 also: ses ""
//	delegation               sp st se resource skoid sktid skt ske sks skv skdutid sduoid
//	                         sip spr sv spk srk epk erk
//
// The resource is /table/account/table, or /account/table before 2015-02-21, with the table in lower case. An absent
// value is an empty line, so the signature is the same for an absent and an empty value. The holder of a token can
// therefore add or remove an empty parameter, and the package treats an empty parameter as absent. Parse and Verify
// reject a SAS parameter that is not among the lines, because it would seem to restrict the token without any effect.
// They also reject a line feed in a value.
//
// The lines of a delegation are taken from the service's newest clients. They have not been confirmed against the
// service.
//
// # Errors
//
// All errors are [*table.Error] with the service's code. The message is the service's text with additional advice. It
// quotes parts of the request, escaped and truncated, but never signatures or keys.
package sas
