// Package sharedkey signs and verifies requests with the account key, in the
// two schemes the table service knows: SharedKey and SharedKeyLite.
//
// A client proves that it holds the account key by an HMAC-SHA256 over a few
// parts of its request, the string to sign:
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
// The tables flavour differs from that of blobs and queues: no x-ms- headers
// are signed, and of the query only comp. Neither body nor query are
// protected, so a public endpoint needs TLS all the same.
//
// # Bytes, not meanings
//
// Everything is signed as it stood on the wire. The path keeps its own
// percent-encoding; a server that signs a decoded or re-encoded path refuses
// good clients, and one that compares meanings accepts bad ones. A transport
// must therefore hand over the raw request target. Two further spellings of a
// path are known to be signed by clients whose HTTP library rewrites the path
// after signing. [Account.Verify] tries them, and no others, once the path as
// sent has failed:
//
//   - with escapes of ' ( ) , ; = : @ ! $ & * and of unreserved characters
//     decoded, all other escapes kept;
//   - with ' as %27.
//
// # Both keys
//
// An account has two keys so that one can be rotated while clients use the
// other. Verify tries both and compares in constant time.
//
// # Not here
//
// The package has no clock, finds no accounts and renders no replies: it
// answers an [*Error] whose [Reason] the protocol layer turns into the
// service's codes. Shared access signatures use the same [Key] but their own
// strings to sign, which they give to [Account.VerifyLines] line by line.
package sharedkey
