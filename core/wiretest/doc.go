// Package wiretest plays recorded conversations to a server, and compares the responses with the recorded ones, byte
// for byte where bytes matter. All recorded conversations are in one corpus, testdata/wire. The tests play this corpus
// to every implementation of the protocol: the handler without a transport, the server on a socket, the Lambda
// function's handler, and a wasm module.
//
//	func TestWire(t *testing.T) { wiretest.Run(t, wiretest.Direct) }
//
// # Transcripts
//
// A transcript is a txtar archive that contains one scenario. At its start, the server is empty and its clock shows
// [Start]. The server has these accounts, all with the well-known key:
//
//	devstoreaccount1   the account of most scenarios
//	secondaccount      another account
//	twokeys            with a second key
//	disabledaccount    disabled
//	httpsaccount       demands HTTPS
//	walledaccount      reachable only from 10.0.0.0/8; requests come from 127.0.0.1
//
// The server accepts the bearer tokens "reader" and "contributor". For the token "unavailable" it behaves as if the
// identity provider could not be reached.
//
// The comment of a transcript describes the scenario. For each exchange, or range of exchanges, a line of the comment
// names the authority: the evidence that the response is right. In the second line of this example, 2024-05-03 is the
// day of the recording, and 2019-02-02 is the x-ms-version:
//
//	01: recorded from the service
//	02: recorded from the service, 2024-05-03 at 2019-02-02: the recording and its request id
//	03-05: documentation
//	06: choice: why we decided so without other evidence
//
// Lines that begin with "server: " configure the server:
//
//	no bearer                   accepts no bearer tokens
//	any date                    does not compare dates to its clock
//	path style                  ignores the host
//	extensions                  has functions in filters, $orderby and $count
//	lag 90s                     the secondary lags by 90 seconds
//	limits account=1/s burst=2  also partition=…, failures=…
//	store Commit busy           the method Commit always fails with ErrBusy; also unknown,
//	                            being-deleted, key-too-long, unsupported,
//	                            past-its-time, out-of-control
//
// The files of a transcript come in pairs, NN-name.request and NN-name.response. The exchange takes place NN seconds
// after [Start], so that Timestamps and ETags are known beforehand.
//
// In an error message, the text after the service's own text is a hint that only this server adds.
//
// # Requests
//
// A request is HTTP as text: request line, headers, an empty line, the body. These headers are added if they are
// missing: Host: 127.0.0.1:10002, the current x-ms-date, x-ms-version: 2019-02-02, the Content-Length, and a valid
// SharedKeyLite Authorization for the account in the address. These values have a special meaning:
//
//	Authorization: (SharedKey)    correct by SharedKey
//	Authorization: (second key)   SharedKeyLite by the second key of twokeys
//	Authorization: (wrong key)    SharedKeyLite by another key
//	any header: (absent)          the header is not sent
//	Transfer-Encoding: chunked    the body is sent in chunks, of unknown length
//
// A line that ends with ⏎ ends with CRLF on the wire, and any other line with LF. The line end before the next file
// belongs to the archive. These expressions are replaced in the target, headers and body:
//
//	$(02.ETag)              is a header of the response of exchange 02
//	$(02.ETag|query)        is the same header, percent-encoded
//	$(02<Value>)            is the text of an XML element in the body of response 02
//	$(repeat 300|a|)        is a, 300 times
//	$(count 1 100|r@,|)     is r1,r2,…r100,
//	$(sas sv=…&tn=…)        is this query with its signature
//	$(sas wrong sv=…)       is the same with the signature of another key
//	$(sas second sv=…)      is the same with the second key
//	$(sas 02<Value> sv=…)   is the same with a user delegation key
//
// A query for $(sas …) with ss or srt becomes an account SAS, a query with skoid a user delegation SAS, and any other
// query a table SAS. Only sig is added to the query.
//
// In bodies ⟨BOM⟩ is a byte order mark, and a line that ends with ¬ continues on the next line, which keeps XML
// readable.
//
// # Responses
//
// A response is the status line without its phrase, the sorted headers, an empty line and the body. Parts that differ
// in every run are checked and then normalised: the headers Date, x-ms-request-id and Content-Length are omitted. Where
// their values, or GUIDs in boundaries, occur in a body, names in braces replace them.
//
// The command go test -run Wire -update rewrites the responses. A transcript says how the service answers, so check
// each new response in the diff.
package wiretest
