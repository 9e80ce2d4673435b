// Package lambdaurl is the transport of an AWS Lambda function: it turns the
// event of an HTTP request into a protocol.Request, and what comes back into the
// answer that the front door expects.
//
// # Front doors
//
// A table's URLs have escapes that are part of keys and of what clients sign.
// So a front door is of use only if it hands on paths as they were sent:
//
//	Function URL     yes; the one to take
//	REST API         yes; the stage is a part of the path that clients sign, so
//	                 a stage is named as the account, or a custom domain with
//	                 an empty base path is put in front
//	load balancer    yes, and it knows MERGE; requests and answers of 1 MB
//	HTTP API         no: it decodes paths, some twice. %25 never arrives, %3F
//	                 cuts the path off. Its events are answered 501
//
// The shape of an event tells which door it came through.
//
// # Sizes
//
// An answer of a function has 6 MB at most, through a load balancer 1 MB. A
// query ends its page before that, see [PageBytes]; a page that is larger
// in JSON nevertheless is served again, shorter. With [Handler.Stream]
// there is no such limit.
//
// # What cannot be done here
//
// A connection cannot be cut off: a Response that says Cut is answered with an
// empty 502, to which clients react as to a reset. Date and
// Content-Length of responses are left to the front door.
package lambdaurl
