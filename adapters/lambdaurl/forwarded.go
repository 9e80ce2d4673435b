package lambdaurl

import (
	"crypto/subtle"
	"net/netip"
	"strings"

	"edgetable/core/protocol"
)

// SecretHeader carries the secret that a proxy of ours shows.
const SecretHeader = "X-Edgetable-Forward-Secret"

// viewerHeader is what CloudFront says of the client's address, "address:port",
// the address of IPv6 without brackets.
const viewerHeader = "Cloudfront-Viewer-Address"

// forwarded believes a proxy that shows the secret: a Function URL has no other
// name than its own, so that CloudFront stands in front of it where tables have
// a domain of their own, and says in X-Forwarded-Host what clients asked for.
// The address that the event has is the proxy's then; without a word about the
// client's it is not known.
//
// Nobody else is believed, and the secret goes no further.
func (h *Handler) forwarded(req *protocol.Request) {
	header := req.Header.(protocol.Header)
	shown := header.Get(SecretHeader)
	delete(header, SecretHeader)
	if shown == "" || !h.knows(shown) {
		return
	}
	if host := header.Get("X-Forwarded-Host"); host != "" {
		req.Host = host
	}
	viewer := header.Get(viewerHeader)
	req.Source = address(viewer[:max(strings.LastIndexByte(viewer, ':'), 0)])
}

// knows compares with every secret in constant time.
func (h *Handler) knows(shown string) bool {
	known := 0
	for _, secret := range h.Secrets {
		if secret != "" {
			known |= subtle.ConstantTimeCompare([]byte(secret), []byte(shown))
		}
	}
	return known == 1
}

// address is the zero Addr if it is none.
func address(text string) netip.Addr {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	a, _ := netip.ParseAddr(text)
	return a.Unmap()
}
