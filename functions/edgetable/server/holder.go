package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

// holder returns advice if Azurite already listens on the address, and "" otherwise. Users who switch from Azurite
// often still have it running.
func holder(ctx context.Context, address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer end()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/", nil)
	if err != nil {
		return ""
	}
	one := &http.Transport{DisableKeepAlives: true} // unlike http.DefaultTransport, this transport uses no proxy
	resp, err := one.RoundTrip(req)
	if err != nil {
		return ""
	}
	_ = resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Server"), "Azurite") {
		return "Azurite uses this address: stop Azurite, as docs/migrate-from-azurite.md says, or "
	}
	return ""
}
