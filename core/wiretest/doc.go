// Package wiretest plays recorded conversations to a server and compares what
// it answers, byte for byte where bytes matter. One corpus, testdata/wire, is
// played to everything that speaks the protocol: the handler itself, the server
// on a socket, the handler of a Lambda function, a wasm module.
//
//	func TestWire(t *testing.T) { wiretest.Run(t, wiretest.Direct) }
//
// # Transcripts
//
// A transcript is a txtar archive with one scenario. It begins with an empty
// server and a clock that shows [Start]. The server has these accounts, all with
// the well-known key:
//
//	devstoreaccount1   that of most scenarios
//	secondaccount      another one
//	twokeys            with a second key
//	disabledaccount    disabled
//	walledaccount      reachable from 10.0.0.0/8, and requests come from 127.0.0.1
//
// and takes the bearer tokens reader and contributor; about the token unavailable
// it cannot ask.
//
// Its comment says what it shows and, in a line for each exchange or range of
// them, on what authority the answer is the right one:
//
//	01: recorded from the service
//	02-04: documentation
//	05: choice: why we decided so where nothing is known
//
// and, in lines beginning with "server: ", how its server differs from others:
//
//	no bearer                   takes no bearer tokens
//	any date                    does not compare dates to its clock
//	path style                  ignores the host
//	lag 90s                     its secondary is so far behind
//	limits account=1/s burst=2  also partition=…, failures=…
//	store Commit busy           that method of the store fails always; also unknown,
//	                            being-deleted, key-too-long, unsupported,
//	                            past-its-time, out-of-control
//
// Its files come in pairs, NN-name.request and NN-name.response; NN is also the
// second after [Start] at which the exchange takes place, so that Timestamps and
// ETags are known beforehand.
//
// In the message of an error, what stands behind the service's own text is a
// hint of ours to the developer.
//
// # Requests
//
// A request is HTTP as text: request line, headers, an empty line, the body.
// Unless it has them, it is sent with Host: 127.0.0.1:10002, the current
// x-ms-date, x-ms-version: 2019-02-02, the Content-Length, and an Authorization
// that is correct by SharedKeyLite for the account it is addressed to. These values stand for something else:
//
//	Authorization: (SharedKey)    correct by SharedKey
//	Authorization: (second key)   SharedKeyLite by the second key of twokeys
//	Authorization: (wrong key)    SharedKeyLite by another key
//	any header: (absent)          is not sent
//	Transfer-Encoding: chunked    the body is sent in chunks, of unknown length
//
// A line that ends in ⏎ ends in CRLF on the wire, any other in LF; the line end
// before the next file of the archive belongs to the archive. In target, headers
// and body
//
//	$(02.ETag)              is a header of the response of exchange 02
//	$(02.ETag|query)        is the same, percent-encoded
//	$(02<Value>)            is the text of an XML element in its body
//	$(repeat 300|a|)        is a, 300 times
//	$(count 1 100|r@,|)     is r1,r2,…r100,
//	$(sas sv=…&tn=…)        is this query and the signature that belongs to it
//	$(sas wrong sv=…)       the same with the signature of another key
//	$(sas second sv=…)      or of the second key
//	$(sas 02<Value> sv=…)   or of a user delegation key
//
// A shared access signature is one of an account if it has ss or srt, of a
// delegation if it has skoid, else of a table. Nothing is added to it but sig.
//
// In bodies ⟨BOM⟩ is a byte order mark, and a line that ends in ¬ goes on in the
// next one, which makes XML readable.
//
// # Responses
//
// A response is the status line without its phrase, the headers sorted, an empty
// line, the body. What differs from run to run was judged and replaced: the
// headers Date, x-ms-request-id and Content-Length are left out, their values in
// a body and all GUIDs of boundaries have names in braces.
//
// go test -run Wire -update rewrites the responses. Every change is then a claim
// about the service: read the diff.
package wiretest
