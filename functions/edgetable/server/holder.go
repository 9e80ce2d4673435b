package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

// holder asks who holds an address on which this server cannot listen, and returns what to do about it, or "". People who come
// from Azurite often have it running still.
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
	one := &http.Transport{DisableKeepAlives: true} // neither a proxy
	resp, err := one.RoundTrip(req)
	if err != nil {
		return ""
	}
	_ = resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Server"), "Azurite") {
		return "Azurite holds it: stop Azurite, as docs/migrate-from-azurite.md says, or "
	}
	return ""
}
