// Package clients holds the tests that use an edgetable server through the Azure SDK for Go (aztables).
//
// The environment variable EDGETABLE_CONNECTION_STRING names the server under test, in the form that every Azure SDK
// accepts:
//
//	DefaultEndpointsProtocol=http;AccountName=…;AccountKey=…;TableEndpoint=http://127.0.0.1:10002/…;
//
// The tests expect the responses of Azure Table Storage. They use tables of random names and delete them again, so
// several suites may use one server at the same time. TestServiceProperties changes the properties of the account and
// restores them, so no other suite may use the account meanwhile. Tests of bearer tokens, of user delegation and of
// retries need servers with certain flags: they start the program that EDGETABLE_BINARY names, or else build it.
//
// The SDK changes some data between a test and the server. It converts entities to map[string]any, which turns 5.0 into
// 5. It refuses empty partition keys in URLs. It drops the error code of a failed transaction. Where the SDK would hide
// the server's response in these ways, a test reads the HTTP response that the SDK received (see wire).
package clients
