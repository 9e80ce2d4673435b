// Package oidc verifies bearer tokens: JSON web tokens that an OpenID Connect
// issuer has signed, such as Microsoft Entra ID, Keycloak or Dex.
//
// A token is accepted when
//
//   - it is a JWS in the compact form of at most 16 KiB, signed with
//     an asymmetric algorithm: "none" and the HMAC family are never accepted;
//   - its signature fits a key that the issuer publishes now;
//   - iss is the configured issuer, to the letter, and aud names one of the
//     configured audiences;
//   - exp is in the future, to the second, and nbf and iat are not, give or take
//     a minute;
//   - the roles claim holds a role that may read or write tables.
//
// # Roles
//
// The service decides by the roles that a tenant assigns to somebody, which
// their token for storage does not carry. Here the token has to carry them, as
// an application's roles do. By default these values count:
//
//	Reader       "Storage Table Data Reader"       "StorageTableDataReader"
//	Contributor  "Storage Table Data Contributor"  "StorageTableDataContributor"
//
// The short forms are there since the value of an application role in Entra may
// not hold spaces. Other issuers have other values and claims: see [Options].
//
// # Keys
//
// The issuer is asked for its keys when the first token comes whose claims are
// right, so a server starts while its issuer is down; such tokens are then refused
// with 503. After that the keys are read again
//
//   - when a token names a key that is not among them: the issuer has begun to
//     sign with a new one;
//   - hourly, so that a key the issuer has withdrawn stops counting. While that
//     fails the old keys serve for a day.
//
// A stranger can make up tokens with any key id. Therefore ten seconds pass
// between the end of one attempt and the next, whatever comes in, and a token
// that names a known key but fails against it never causes one. After an attempt
// that failed, one second passes before the next token that needs the keys causes
// another: the SDKs of Azure retry for six. At most 64 tokens wait for an attempt, none for
// more than two seconds; others get 503 at once. An issuer should publish a new key ten
// seconds before it signs with it, and never use a key id again for another key.
//
// # Memory and time
//
// Tokens already verified are remembered by their SHA-256 until they expire, at
// most 1,024 of them and no longer than the keys that they were verified with:
// that takes less than 1 µs, the first time 60 µs (RS256) to 100 µs (ES256). Neither tokens
// nor anything written in one is ever part of an error.
package oidc
