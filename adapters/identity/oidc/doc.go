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
//   - exp is in the future, without any tolerance;
//   - nbf and iat are not in the future, with a tolerance of one minute;
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
// Anyone can invent tokens with any key id. Therefore there is a pause of ten seconds after each attempt to read the
// keys, and a token whose key is known but whose signature is wrong never causes an attempt. After a failed attempt
// the pause is only one second, because Azure's SDKs retry for only six seconds. At most 64 tokens wait for an
// attempt, for at most two seconds each; others get 503 at once. An issuer should publish a new key ten seconds
// before it signs with this key, and never reuse a key id for another key.
//
// # Memory and time
//
// The results of verified tokens are kept by the SHA-256 of the token until the token expires, or until the keys are
// read again. At most 1,024 results are kept. To verify such a token again takes less than 1 µs; a new token takes
// 60 µs (RS256) to 100 µs (ES256). Errors never contain a token or any part of one.
package oidc
