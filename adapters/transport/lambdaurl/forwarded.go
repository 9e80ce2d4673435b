package lambdaurl

import (
	"context"
	"crypto/subtle"
	"net/netip"
	"strings"

	"edgetable/core/protocol"
)

// Headers of a proxy of ours: the secret by which it is known, and the address of
// the client as it saw it.
const (
	SecretHeader = "X-Edgetable-Forward-Secret"
	viewerHeader = "X-Edgetable-Viewer"
)

// forwarded trusts a proxy that sends the secret. A Function URL has only its own
// name; for another domain CloudFront is in front of it and sends the name in
// X-Forwarded-Host.
// The address in the event is the proxy's then; without a word about the
// client's it is not known.
//
// Nobody else is believed, and the secret goes no further.
func (h *Handler) forwarded(ctx context.Context, req *protocol.Request) {
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

// address is the zero Addr if it is none.
func address(text string) netip.Addr {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	a, _ := netip.ParseAddr(text)
	return a.Unmap()
}
