package server

import (
	"net"
	"strconv"

	"edgetable/functions/edgetable/admin"
)

// url returns the URL of the server without an account. It uses the host name in --listen, because the certificate may
// be for this name.
func (s *serving) url() string {
	a := admin.Address{Public: s.publicURL, Listen: s.listen, TLS: s.tlsCert != "", Domains: s.acme.domains}
	host, _, err := net.SplitHostPort(s.listen)
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	if err != nil || !ok {
		return a.URL("127.0.0.1", "10002", false) // this cannot happen, because the listener is a TCP listener
	}
	return a.URL(host, strconv.Itoa(tcp.Port), tcp.IP.IsUnspecified())
}

// externalURL returns the URL for other machines if the server listens on all addresses. It returns "" if the server
// has a public URL or a domain, or listens on a single address.
func (s *serving) externalURL() string {
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() || s.publicURL != "" || len(s.acme.domains) > 0 {
		return ""
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	host := firstGlobal(all)
	if host == "" {
		return ""
	}
	a := admin.Address{TLS: s.tlsCert != ""}
	return a.URL(host, strconv.Itoa(tcp.Port), false)
}

// firstGlobal returns the first address that other machines may reach, preferably an IPv4 address, or "" if there is
// none.
func firstGlobal(list []net.Addr) (host string) {
	for _, one := range list {
		network, ok := one.(*net.IPNet)
		switch {
		case !ok || !network.IP.IsGlobalUnicast():
		case network.IP.To4() != nil:
			return network.IP.String()
		case host == "":
			host = network.IP.String()
		}
	}
	return host
}
