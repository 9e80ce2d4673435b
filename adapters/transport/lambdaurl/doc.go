// Package lambdaurl is the transport of an AWS Lambda function. It converts the event of an HTTP request to a
// protocol.Request, and the response to the form that the front door expects.
//
// # Front doors
//
// The escapes in a table's URL are part of the keys and of the text that clients sign. A front door is therefore usable
// only if it does not change paths:
//
//	Function URL     yes; recommended
//	REST API         yes; the stage is part of the path that clients sign, so
//	                 name the stage after the account, or put a custom domain
//	                 with an empty base path in front
//	load balancer    yes, and it supports MERGE; requests and responses up to 1 MB
//	HTTP API         no: it decodes paths, sometimes twice. %25 never arrives, and
//	                 %3F cuts the path off. Its events get 501
//
// The fields of an event show through which front door the request came.
//
// # Sizes
//
// A function's response has at most 6 MB, or 1 MB through a load balancer. A page of a query is therefore limited
// ([PageBytes]). If the JSON of a page is too large nevertheless, the request is served again with a shorter page.
// [Handler.Stream] has no such limit.
//
// # Limitations
//
// A function cannot close a client's connection without a response. If the field Cut of a Response is set, the client
// gets an empty response with status 502, which clients treat like a reset connection. The front door sets the headers
// Date and Content-Length of responses.
package lambdaurl
