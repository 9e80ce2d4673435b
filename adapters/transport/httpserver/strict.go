package httpserver

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// stayWithTLS tells browsers that came over TLS not to come without it for a year. It
// leaves out addresses, which browsers do not remember, and names without a dot: other
// programs on localhost may have no TLS.
func stayWithTLS(c *fasthttp.RequestCtx) {
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
	c.Response.Header.Set("Strict-Transport-Security", "max-age=31536000")
}
