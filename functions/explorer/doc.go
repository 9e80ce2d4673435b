// Package explorer is the web explorer: a page that shows and edits tables in a browser.
//
// The page is one static HTML file with one script and one style sheet. It speaks only the Table protocol, so it works with every deployment of
// edgetable, with Azurite and with Azure. Its sources are in page/ (TypeScript, Preact, TanStack virtual-core); the program in build/ bundles
// them into dist/, which is committed and embedded. 'make explorer' builds dist/ again, and 'make test-local' compares the bytes.
//
// First, the page sends GET /_/session (relative to the page: "session"). The response tells the page how it is served:
//
//   - If 'edgetable explorer' serves the page, the response is 200 with profiles. The server signs and forwards the requests of the page. The page
//     has no key:
//
//     {"version": "1.2.3", "profiles": [{"name": "prod", "account": "acme", "readOnly": true, "color": "red",
//     "endpoint": "https://acme.table.core.windows.net"}], "token": "…"}
//
//     Requests for data go to /_/p/PROFILE/…, without a signature. The path after the profile is relative to the account. Examples are
//     /_/p/prod/Tables and /_/p/prod/People(PartitionKey='a',RowKey='b'). The server passes on the response of the endpoint. If a profile has
//     readOnly, the server refuses writes with 403, in the form of the protocol's errors. The color is red, orange, yellow, green, blue, purple or
//     gray, or "" for none. If the endpoint cannot be reached, the response is 502 with the header x-edgetable-explorer: unreachable, and with an
//     error in the protocol's form.
//
//     The fragment of the page's URL contains a one-time token, #token=…. The page removes the token from the URL. The page sends the token in the
//     header x-edgetable-explorer of GET /_/session. The response contains another token for this window, in the member "token". The page keeps
//     the window's token in sessionStorage, and sends it in the same header with every later request. The response to a later GET /_/session has
//     no member "token". 401 (NoSession) means that the window has no session. Then the page tells the user to open the link that 'edgetable
//     explorer' printed last.
//
//     For shared access signatures, the page sends POST /_/sign/PROFILE with a StringToSign as the body. The response is {"signature": "…"}. The
//     request is refused if the profile is read-only (403 ReadOnlyProfile) or has no key (409 NoKey).
//
//     The response to GET /_/traffic/PROFILE/TABLE is the output of 'edgetable traffic --json'. The response to GET /_/advise/PROFILE/TABLE is the
//     output of 'edgetable advise --json'; see docs/advise.md. For a profile with "local": true, the data is from the server on this machine. For
//     other profiles, the data is from the service itself, as with --from. If a service does not report its traffic, the response is 200 with
//     {"untold": "why"}. With ?scan=true, advise reads all entities. For a local profile, GET /_/traffic/PROFILE lists the tables with traffic.
//     GET /_/accounts/PROFILE says when the keys of a local profile were last used, and contains no key. For other profiles, these two requests
//     get 404 (NotLocal). If the endpoint keeps no statistics, the response is 502 (NoStatistics).
//
//   - If an endpoint serves the page at /_/, the response is 200 with {}, which is the file dist/session. A server adds members to this object:
//     {"version": "1.2.3", "development": true, "consent": true}. With "development", the page can open the development account, whose key is
//     public, with one click. With "consent", the command 'edgetable explorer --link' can open all accounts of the server. The server's
//     socket gives the command a one-time token, and the path of the page. GET /_/session with the one-time token begins a session of 12 hours. The
//     response is {"version": "1.2.3", "accounts": ["acme"], "token": "…"}. In the session, the page itself sends the requests for data to the
//     endpoint, and gets their signatures with POST /_/sign/ACCOUNT. Sessions and signatures work only over loopback or https (403 NotPrivate).
//     If the token is not valid, the response is 401 (NoConsent). A page without a session asks the user for an account and its key, a connection
//     string or a SAS URL, and signs with WebCrypto. Some deployments omit the file dist/session. Then the response is 404, and the page also asks
//     the user.
//
// The page has a content security policy that forbids inline scripts and styles: default-src 'none'; script-src 'self'; style-src 'self'; img-src
// 'self' data:; connect-src 'self' (and other endpoints, if an endpoint serves the page); require-trusted-types-for 'script'; trusted-types
// 'none'. The page sets styles only through the CSSOM, and values only through text nodes.
//
// Tests find parts of the page by the attributes data-test="…".
package explorer
