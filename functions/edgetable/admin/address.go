package admin

import (
	"net"
	"strings"
)

// Address holds the settings of a server that determine its URL.
type Address struct {
	Public  string   // value of --public-url
	Listen  string   // value of --listen
	TLS     bool     // true if the server has a certificate
	Domains []string // domains with a certificate from an authority
}

// URL returns the URL of a server without an account. This is its public URL or its domain, or else the host and port
// where it listens. For a server that listens on all addresses, the host is 127.0.0.1.
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

// BySettings returns the URL of a server that need not be running. It returns "" if the settings do not determine the
// URL.
func (a *Address) BySettings() string {
	host, port, err := net.SplitHostPort(a.Listen)
	if a.Public == "" && (a.Listen == "" || err != nil || port == "" || port == "0") {
		return ""
	}
	ip := net.ParseIP(host)
	return a.URL(host, port, host == "" || ip != nil && ip.IsUnspecified())
}
