// Package sharedkey signs and verifies requests with an account key, in the two schemes of the table service:
// SharedKey and SharedKeyLite.
//
// A client proves that it has the account key with an HMAC-SHA256 over some parts of its request, the StringToSign:
//
//	SharedKey      VERB \n Content-MD5 \n Content-Type \n Date \n CanonicalizedResource
//	SharedKeyLite  Date \n CanonicalizedResource
//
//	CanonicalizedResource = "/" account path [ "?comp=" value ]
//
// It sends the result as
//
//	Authorization: SharedKeyLite account:base64(HMAC-SHA256(key, string to sign))
//
// Tables differ from blobs and queues here: no x-ms- headers are signed, and only comp from the query. The body and
// the rest of the query are not protected, so a public endpoint also needs TLS.
//
// # Bytes, not meanings
//
// A signature covers the bytes on the wire, including the percent-encoding of the path. A server that verifies a
// decoded or re-encoded path rejects valid clients or accepts invalid signatures, so a transport must pass on the raw
// request target. Some HTTP libraries rewrite the path after the client has signed it. If the signature does not match
// the path as sent, [Account.Verify] tries two other spellings:
//
//   - with escapes of ' ( ) , ; = : @ ! $ & * and of unreserved characters
//     decoded, all other escapes kept;
//   - with ' as %27.
//
// # Both keys
//
// An account has two keys, so that one can be replaced while clients use the other. Verify tries both keys and compares
// in constant time.
//
// # Out of scope
//
// The package has no clock, looks up no accounts and writes no responses. It returns an [*Error], and package protocol
// maps its [Reason] to the service's codes. Shared access signatures use the same [Key] with a different StringToSign,
// whose lines package sas passes to [Account.VerifyLines].
package sharedkey
