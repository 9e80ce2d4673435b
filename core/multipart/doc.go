// Package multipart reads and writes the bodies of entity group transactions, the multipart/mixed payload of POST
// /$batch.
//
// A request body has two levels. The batch contains one changeset, and the changeset contains the operations, each an
// HTTP request as text:
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
// A single query is in the batch without a changeset.
//
// [Parse] is strict about structure and tolerant only where the service's clients differ:
//
//   - Lines end with CRLF or a bare LF.
//   - Text before the first delimiter and after the last one is ignored.
//   - Blank lines may surround bodies and follow changesets.
//   - Content-Length inside a part is ignored, because some clients miscount.
//   - The last delimiter of the batch may lack its closing "--".
//   - One of the two boundaries may be a prefix of the other.
//
// A body that is truncated anywhere else is rejected, because half a transaction must never be applied.
//
// [AppendChangeset] and [AppendQuery] write exactly the service's bytes, because clients split responses with regular
// expressions.
//
// The package implements MIME framing and HTTP heads. It knows nothing about tables: the target of an operation is raw
// text, and bodies are slices of the input. It does not use mime/multipart, which accepts any number of parts, copies
// their bodies, and needs a network stack that small runtimes lack.
package multipart
