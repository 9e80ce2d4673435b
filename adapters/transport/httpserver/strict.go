package httpserver

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// stayWithTLS tells browsers that arrived over TLS to use nothing else for a year. It does not do so for addresses,
// which browsers do not remember, and for names without a dot, because other programs on localhost may not have TLS.
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
