// Package explorer is the web explorer: a page that shows and edits tables in a browser.
//
// The page is one static HTML file with one script and one style sheet. It speaks only the Table protocol, so it works with every deployment of
// edgetable, with Azurite and with Azure. Its sources are in page/ (TypeScript, Preact, TanStack virtual-core); the program in build/ bundles
// them into dist/, which is committed and embedded. 'make explorer' builds it again, 'make test-local' compares the bytes.
//
// The page sends one request to find out how it is served, GET /_/session (relative to itself: "session"):
//
//   - The answer is 200 with profiles if 'edgetable explorer' serves the page. The server signs and forwards requests of the page, which has no key:
//
//     {"version": "1.2.3", "profiles": [{"name": "prod", "account": "acme", "readOnly": true, "color": "red",
//     "endpoint": "https://acme.table.core.windows.net"}], "token": "…"}
//
//     Requests for data go to /_/p/PROFILE/…, without a signature; the path after the profile is relative to the account, for example
//     /_/p/prod/Tables or /_/p/prod/People(PartitionKey='a',RowKey='b'). The response is that of the endpoint. The server refuses writes of a
//     profile with readOnly (403 with a body in the form of the protocol's errors); color is red, orange, yellow, green, blue, purple or gray, ""
//     for none. If the endpoint cannot be reached, the answer is 502 with the header x-edgetable-explorer: unreachable and an error in the
//     protocol's form.
//
//     The one-time token is in the fragment of the page's URL, #token=…; the page removes it from the URL and sends it in the header
//     x-edgetable-explorer of GET /_/session. The answer then has a token for this window, "token"; the page keeps it in sessionStorage and sends
//     it in that header with every request from then on, GET /_/session included, which answers without "token". 401 (NoSession) means that the
//     window has no session; the page then says to open the link that 'edgetable explorer' printed last.
//
//     POST /_/sign/PROFILE with a StringToSign as its body answers {"signature": "…"}, for shared access signatures; it is refused for a profile
//     that is read-only (403 ReadOnlyProfile) or that has no key (409 NoKey).
//
//     GET /_/traffic/PROFILE/TABLE and GET /_/advise/PROFILE/TABLE answer with the output of 'edgetable traffic --json' and 'edgetable advise
//     --json', see docs/advise.md. For a profile with "local": true, the data is from the server on this machine; for other profiles it is from
//     the service itself, as with --from. If a service does not report its traffic, the response is 200 with {"untold": "why"}. With ?scan=true,
//     advise reads all entities. For a local profile there are also GET /_/traffic/PROFILE, which lists the tables with traffic, and GET
//     /_/accounts/PROFILE, which says when keys were last used and contains no key; for other profiles both are 404 (NotLocal). If the endpoint
//     keeps no statistics, the answer is 502 (NoStatistics).
//
//   - The answer is 200 with {} when an endpoint serves the page at /_/: the file dist/session. A server adds fields, {"version": "1.2.3",
//     "development": true, "consent": true}: with development, the page can open the development account, whose key is public, with one click;
//     with consent, 'edgetable explorer --link' can open all its accounts. This command gets the path of the page with a one-time token from the
//     server's socket. GET /_/session with the token then answers {"version": "1.2.3", "accounts": ["acme"], "token": "…"}: a session as with a
//     gateway, but for 12 hours. The page sends its requests itself, and gets their signatures by POST /_/sign/ACCOUNT. Session and signatures
//     work only over loopback or https (403 NotPrivate); without a session the answer is 401 (NoConsent). Otherwise the page asks for an account
//     and its key, a connection string or a SAS URL, and signs with WebCrypto. A 404 means the same: some deployments omit this file.
//
// The page has a content security policy that forbids inline scripts and styles: default-src 'none'; script-src 'self'; style-src 'self'; img-src
// 'self' data:; connect-src 'self' (and other endpoints, if an endpoint serves the page); require-trusted-types-for 'script'; trusted-types
// 'none'. The page sets styles only through the CSSOM, and values only through text nodes.
//
// Tests find parts of the page by the attributes data-test="…".
package explorer
