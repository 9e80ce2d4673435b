// Package oidc verifies bearer tokens: JSON web tokens signed by an OpenID Connect issuer such as Microsoft Entra ID,
// Keycloak or Dex.
//
// A token is accepted if
//
//   - it is a JWS in compact form of at most 16 KiB, signed with an asymmetric
//     algorithm: "none" and the HMAC family are never accepted;
//   - it is signed with one of the keys that the issuer currently publishes;
//   - iss is exactly the configured issuer, and aud contains one of the
//     configured audiences;
//   - exp is in the future, without any tolerance;
//   - nbf and iat are not in the future, with a tolerance of one minute;
//   - the roles claim contains a role that may read or write tables.
//
// # Roles
//
// The token must contain the roles of the user, as it does for application roles. Azure's service instead looks up the
// roles that a tenant has assigned to the user. These values are recognized by default:
//
//	Reader       "Storage Table Data Reader"       "StorageTableDataReader"
//	Contributor  "Storage Table Data Contributor"  "StorageTableDataContributor"
//
// The short forms exist because the value of an application role in Entra cannot contain spaces. For other values and
// claims, see [Options].
//
// # Keys
//
// The keys are read when the first token with valid claims arrives. A server can therefore start while its issuer is
// down; tokens get 503 until the keys can be read. Afterwards, the keys are read again
//
//   - when a token names an unknown key, because the issuer may have begun to
//     sign with a new key;
//   - every hour, so that keys that the issuer has withdrawn stop working. If
//     the keys cannot be read, the old keys are used for up to a day.
//
// Anyone can invent tokens with unknown key ids. Attempts to read the keys are therefore at least ten seconds apart.
// After a failed attempt, the pause is only one second, because Azure's SDKs retry for only six seconds. At most 64
// tokens wait for an attempt, for at most two seconds each. Other tokens get 503 immediately.
//
// An issuer should publish a new key ten seconds before it signs with the key. It must never reuse a key id for another
// key.
//
// # Memory and time
//
// The identities of up to 1,024 verified tokens are cached until the token expires or the keys are read again. Verifying
// a cached token takes less than 1 µs. Verifying a new token takes 60 µs (RS256) to 100 µs (ES256).
//
// Errors never contain a token or any part of a token.
package oidc
