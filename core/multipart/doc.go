// Package multipart reads and writes the bodies of entity group transactions,
// the multipart/mixed payload of POST /$batch.
//
// A request body has two levels. The batch holds one changeset, the changeset
// holds the operations, each an HTTP request without a connection:
//
//	--batch_a1e9                                            ⏎
//	Content-Type: multipart/mixed; boundary=changeset_8a28  ⏎
//	⏎
//	--changeset_8a28                                        ⏎   MIME head of a part
//	Content-Type: application/http                          ⏎
//	Content-Transfer-Encoding: binary                       ⏎
//	⏎
//	POST https://acct.table.core.windows.net/t HTTP/1.1     ⏎   inner head
//	Content-Type: application/json                          ⏎
//	⏎
//	{"PartitionKey":"p","RowKey":"1"}                       ⏎   body
//	--changeset_8a28--                                      ⏎
//	--batch_a1e9--                                          ⏎
//
// A single query stands in the batch directly, without a changeset.
//
// [Parse] is strict about structure and tolerant exactly where clients of the
// service differ: each line ends with CRLF or a bare LF; text before the first
// and after the last delimiter is ignored; blank lines may stand around bodies
// and after changesets; a Content-Length inside a part is ignored, since some
// clients miscount; the last delimiter of the batch may lack its closing "--";
// ids of batch and changeset may be prefixes of one another. What is cut off
// anywhere else is refused: half a transaction must never be applied.
//
// [AppendChangeset] and [AppendQuery] write responses with the very bytes of
// the service, because clients cut them up with regular expressions.
//
// The package knows MIME framing and HTTP heads. It does not know tables: the
// target of an operation is raw text, bodies are slices of the input. It does
// not use mime/multipart, which needs a network stack that small runtimes do
// not have, accepts parts of any number and copies their bodies.
package multipart
