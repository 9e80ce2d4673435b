package httpserver

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// stayWithTLS tells browsers that use TLS to use only TLS for this host for a year (HSTS). It omits the header for IP
// addresses, because browsers ignore it there. It also omits the header for names without a dot such as localhost,
// where other programs may not have TLS.
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
