package httpserver

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// stayWithTLS makes browsers use only TLS for this host for a year (HSTS), if the request used TLS. It excludes IP
// addresses and names without a dot, such as localhost.
func stayWithTLS(c *fasthttp.RequestCtx, r *fasthttp.ResponseHeader) {
	if !c.IsTLS() {
		return
	}
	host := string(c.Request.Header.Host())
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
		return
	}
	r.Set("Strict-Transport-Security", "max-age=31536000")
}
