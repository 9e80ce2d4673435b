package admin

import (
	"net"
	"strings"
)

// Address says where clients reach a server, according to its settings.
type Address struct {
	Public  string   // --public-url
	Listen  string   // --listen
	TLS     bool     // the server has a certificate
	Domains []string // domains for which it obtains a certificate
}

// URL returns the beginning of the accounts' endpoints. The port is that of --listen, or the one that the system
// chose. If the server listens on all addresses, the URL has one that works on this machine.
func (a *Address) URL(host, port string, everywhere bool) string {
	if a.Public != "" {
		return strings.TrimSuffix(a.Public, "/")
	}
	scheme := "http://"
	if a.TLS || len(a.Domains) > 0 {
		scheme = "https://"
	}
	switch {
	case len(a.Domains) > 0 && port == "443":
		return scheme + a.Domains[0]
	case len(a.Domains) > 0:
		host = a.Domains[0]
	case everywhere:
		host = "127.0.0.1"
	}
	return scheme + net.JoinHostPort(host, port)
}

// BySettings returns the URL of a server according to its settings, or "" if these do not determine it.
func (a *Address) BySettings() string {
	host, port, err := net.SplitHostPort(a.Listen)
	if a.Public == "" && (a.Listen == "" || err != nil || port == "" || port == "0") {
		return ""
	}
	ip := net.ParseIP(host)
	return a.URL(host, port, host == "" || ip != nil && ip.IsUnspecified())
}
