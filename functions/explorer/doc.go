// Package explorer is the web explorer: a page that shows and edits tables in a browser.
//
// The page is a static HTML file with a script and a style sheet. It uses only the Table protocol, so it works with every
// deployment of edgetable, with Azurite and with Azure. Its sources are in page/ (TypeScript, Preact, TanStack
// virtual-core). The program in build/ bundles them into dist/, which is committed and embedded. "make explorer" rebuilds
// dist/, and "make test-local" checks that it is up to date.
//
// The page first sends GET /_/session (as the relative URL "session"). The response tells the page who serves it.
//
// # Gateway
//
// A gateway, such as the command "edgetable explorer", signs and forwards the requests of the page. The page has no keys.
// The response to GET /_/session contains the profiles:
//
//	{"version": "1.2.3", "profiles": [{"name": "prod", "account": "acme", "readOnly": true, "color": "red",
//	"endpoint": "https://acme.table.core.windows.net"}], "token": "…"}
//
// The color is red, orange, yellow, green, blue, purple or gray, or "" for none.
//
// The fragment of the page's URL contains a one-time token, #token=…, which the page removes from the URL. It sends the
// token in the header x-edgetable-explorer of GET /_/session. The member "token" of the response is a session token for
// this window. The page stores the session token in sessionStorage and sends it in the same header with every later
// request. Later responses to GET /_/session have no member "token". 401 (NoSession) means that the window has no
// session. The page then asks the user to open the link that "edgetable explorer" printed last.
//
// Requests of the page:
//   - /_/p/PROFILE/… is forwarded to the profile's service. The path after the profile is relative to the account, for
//     example /_/p/prod/Tables or /_/p/prod/People(PartitionKey='a',RowKey='b'). If the profile is read-only, writes are
//     rejected with 403 and an error in the form of the Table protocol. If the service cannot be reached, the response is
//     502 with the header x-edgetable-explorer: unreachable.
//   - POST /_/sign/PROFILE, with a StringToSign as the body, returns {"signature": "…"} for a shared access signature. It
//     is rejected if the profile is read-only (403 ReadOnlyProfile) or has no key (409 NoKey).
//   - GET /_/traffic/PROFILE/TABLE returns the output of "edgetable traffic --json". If the service does not report its
//     traffic, the response is 200 with {"untold": "why"}.
//   - GET /_/advise/PROFILE/TABLE returns the output of "edgetable advise --json", see docs/advise.md. With ?scan=true,
//     it reads all entities.
//   - GET /_/traffic/PROFILE lists the tables with traffic. It requires a local profile.
//   - GET /_/accounts/PROFILE returns when the keys of the account were last used, without the keys. It requires a local
//     profile.
//
// Profiles with "local": true are accounts of the server on this machine, which provides their statistics. Statistics of
// other profiles are from the service, as with --from. Requests that require a local profile fail for other profiles with
// 404 (NotLocal). If there are no statistics, the response is 502 (NoStatistics).
//
// # Endpoint
//
// If an endpoint of tables serves the page at /_/, the response to GET /_/session is {}, the file dist/session. Some
// deployments omit this file, and the response is 404. In both cases, the page asks the user for an account and its key, a
// connection string or a SAS URL, and signs with WebCrypto. A server adds members to the response:
//
//	{"version": "1.2.3", "development": true, "consent": true}
//
// With "development", the page offers the development account, whose key is public. With "consent", the command
// "edgetable explorer --link" can open all accounts of the server. The command requests a link with a one-time token
// over the server's administration socket. GET /_/session with this token starts a session of 12 hours:
//
//	{"version": "1.2.3", "accounts": ["acme"], "token": "…"}
//
// In a session, the page sends requests to the endpoint itself, with signatures from POST /_/sign/ACCOUNT. Sessions and
// signatures are available only over loopback or HTTPS (403 NotPrivate). If the token is invalid, the response is 401
// (NoConsent).
//
// # Security
//
// The page's content security policy forbids inline scripts and styles: default-src 'none'; script-src 'self'; style-src
// 'self'; img-src 'self' data:; connect-src 'self', and other services if an endpoint serves the page;
// require-trusted-types-for 'script'; trusted-types 'none'. The page sets styles only through the CSSOM, and values only
// through text nodes.
//
// Tests find parts of the page by the attribute data-test.
package explorer
