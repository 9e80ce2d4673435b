// Package sharedkey signs and verifies requests with the account key, in the
// two schemes of the table service: SharedKey and SharedKeyLite.
//
// A client proves that it has the account key by an HMAC-SHA256 over a few
// parts of its request, the StringToSign:
//
//	SharedKey      VERB \n Content-MD5 \n Content-Type \n Date \n CanonicalizedResource
//	SharedKeyLite  Date \n CanonicalizedResource
//
//	CanonicalizedResource = "/" account path [ "?comp=" value ]
//
// and sends it as
//
//	Authorization: SharedKeyLite account:base64(HMAC-SHA256(key, string to sign))
//
// The schemes of tables differ from those of blobs and queues: they sign no
// x-ms- headers, and only comp from the query. They do not protect the body or
// the rest of the query, so a public endpoint also needs TLS.
//
// # Bytes, not meanings
//
// A signature covers the bytes on the wire. The path keeps its own
// percent-encoding: a server that signs a decoded or re-encoded path refuses
// valid clients, and one that compares decoded paths accepts invalid
// signatures. So a transport must pass on the raw request target. Some clients
// sign one of two further spellings of a path, because their HTTP library
// rewrites the path after signing. [Account.Verify] tries these spellings, and
// no others, after the path as sent has failed:
//
//   - with escapes of ' ( ) , ; = : @ ! $ & * and of unreserved characters
//     decoded, all other escapes kept;
//   - with ' as %27.
//
// # Both keys
//
// An account has two keys, so that one can be replaced while clients use the
// other. Verify tries both and compares in constant time.
//
// # Not here
//
// The package has no clock, finds no accounts and writes no replies: it returns
// an [*Error], and the protocol layer translates its [Reason] to the service's
// codes. Shared access signatures use the same [Key] with a StringToSign of
// their own; package sas passes its lines to [Account.VerifyLines].
package sharedkey
