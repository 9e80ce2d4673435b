// Package clients holds the tests that drive an edgetable server with the Azure SDK for Go (aztables).
//
// The server under test is named by EDGETABLE_CONNECTION_STRING, in the form every Azure SDK takes:
//
//	DefaultEndpointsProtocol=http;AccountName=…;AccountKey=…;TableEndpoint=http://127.0.0.1:10002/…;
//
// The tests assert what the Azure Table service answers. They use tables of random names and delete them again, so
// several suites may run against one server at the same time; the properties of the account, which TestServiceProperties
// changes and puts back, want an account that no other suite uses. Tests of bearer tokens, of user delegation and of retries
// need servers with flags of their own: they start the program that EDGETABLE_BINARY names, or else build it.
//
// The SDK sits between a test and the wire and is not transparent: it passes entities through map[string]any, which
// turns 5.0 into 5, it refuses empty partition keys in URLs, and it drops the error code of a failed transaction.
// Where that would hide the server's answer, a test reads the response the SDK received (see wire).
package clients
