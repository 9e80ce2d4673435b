package lambdaurl

import (
	"context"
	"crypto/subtle"
	"net/netip"
	"strings"

	"edgetable/core/protocol"
)

// Headers of a trusted proxy: the secret that identifies the proxy, and the address of the proxy's client.
const (
	SecretHeader = "X-Edgetable-Forward-Secret"
	viewerHeader = "X-Edgetable-Viewer"
)

// applyForwarded applies the headers of a proxy that sends the secret, and removes the secret from the request. It does
// not trust other senders.
//
// The usual proxy is CloudFront in front of a Function URL, which accepts only its own host name. CloudFront therefore
// sends the client's host name in X-Forwarded-Host. The proxy must also send the client's address. Otherwise the
// request has no client address.
func (h *Handler) applyForwarded(ctx context.Context, req *protocol.Request) {
	header := req.Header.(protocol.Header)
	shown := header.Get(SecretHeader)
	delete(header, SecretHeader)
	if shown == "" || h.Secret == nil {
		return
	}
	secret, err := h.Secret(ctx)
	if err != nil || secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(shown)) == 0 {
		return
	}
	if host := header.Get("X-Forwarded-Host"); host != "" {
		req.Host = host
	}
	req.Source = address(header.Get(viewerHeader))
}

// address parses an address. It returns the zero Addr if text is not an address.
func address(text string) netip.Addr {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	a, _ := netip.ParseAddr(text)
	return a.Unmap()
}
