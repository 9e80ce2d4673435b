// Package oidc verifies bearer tokens: JSON web tokens signed by an OpenID Connect issuer such as Microsoft Entra ID,
// Keycloak or Dex.
//
// A token is accepted if
//
//   - it is a JWS in compact form of at most 16 KiB, signed with an asymmetric
//     algorithm: "none" and the HMAC family are never accepted;
//   - one of the issuer's currently published keys made its signature;
//   - iss is exactly the configured issuer, and aud contains one of the
//     configured audiences;
//   - exp is in the future, to the second, and nbf and iat are not, with a
//     tolerance of one minute;
//   - the roles claim contains a role that may read or write tables.
//
// # Roles
//
// Azure's service looks up the roles that a tenant has assigned to a user; tokens for storage do not contain them.
// Here the token must contain the roles, as it does for application roles. These values are recognised by default:
//
//	Reader       "Storage Table Data Reader"       "StorageTableDataReader"
//	Contributor  "Storage Table Data Contributor"  "StorageTableDataContributor"
//
// The short forms exist because the value of an application role in Entra cannot contain spaces. Other issuers use
// other values and claims: see [Options].
//
// # Keys
//
// The keys are read when the first token with valid claims arrives, so a server can start while its issuer is down;
// such tokens then get 503. Afterwards the keys are read again
//
//   - when a token names an unknown key, because the issuer may have begun to
//     sign with a new one;
//   - every hour, so that keys the issuer has withdrawn stop working. If that
//     fails, the old keys are used for up to a day.
//
// Anyone can invent tokens with any key id. Therefore there is a pause of ten seconds after each attempt, and a token
// whose key is known but whose signature is wrong never causes an attempt. After a failed attempt the pause is only
// one second, and the next token that needs the keys starts another; Azure's SDKs retry for six seconds. At most 64
// tokens wait for an attempt, for at most two seconds each; others get 503 at once. An issuer should publish a new
// key ten seconds before it signs with it, and never reuse a key id for another key.
//
// # Memory and time
//
// Verified tokens are remembered by their SHA-256 until they expire, at most 1,024 of them, and no longer than the
// keys that verified them. A remembered token takes less than 1 µs, a new one 60 µs (RS256) to 100 µs (ES256). Errors
// never contain a token or any part of one.
package oidc
