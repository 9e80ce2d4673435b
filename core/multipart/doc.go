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
// A single query is directly in the batch, without a changeset.
//
// [Parse] is strict about structure. It is tolerant only where clients of the
// service differ: each line ends with CRLF or a bare LF; text before the first
// and after the last delimiter is ignored; blank lines may be around bodies and
// after changesets; a Content-Length inside a part is ignored, because some
// clients miscount; the last delimiter of the batch may lack its closing "--";
// one id of batch and changeset may be a prefix of the other. A body that is
// cut off anywhere else is refused: half a transaction must never be applied.
//
// [AppendChangeset] and [AppendQuery] write responses with exactly the bytes of
// the service, because clients split them with regular expressions.
//
// The package implements MIME framing and HTTP heads, but not tables: the
// target of an operation is raw text, bodies are slices of the input. It does
// not use mime/multipart, which needs a network stack that small runtimes do
// not have, accepts any number of parts and copies their bodies.
package multipart
