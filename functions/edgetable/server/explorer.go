package server

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

// explorerFlag says whether a server has the explorer's page.
type explorerFlag struct{ on, given bool }

func (e *explorerFlag) register(f *pflag.FlagSet) {
	cli.BoolFlag(f, &e.on, "explorer", "serve the explorer's page at /_/; default only where this machine alone can reach it; =false turns it off")
}

// serves reports whether the page is served. A proxy may let anybody reach it.
func (e explorerFlag) serves(at net.Addr, o *serveFlags) bool {
	if e.given {
		return e.on
	}
	return cli.Loopback(at) && !o.trustProxy && o.publicURL == ""
}

// own answers requests for paths that no account has.
func (s *serving) own(h *health) func(*protocol.Request) protocol.Response {
	if !s.explorer.serves(s.listener.Addr(), s.serveFlags) {
		return h.answer
	}
	page := explorer.Endpoint{Hosts: explorerHosts(s.serveFlags), Development: s.hasDevelopment}
	return func(req *protocol.Request) protocol.Response {
		if strings.HasPrefix(req.Target, "/_/live") || strings.HasPrefix(req.Target, "/_/ready") {
			return h.answer(req)
		}
		return page.Serve(req)
	}
}

// hasDevelopment reports whether anybody knows the key of the development account.
func (s *serving) hasDevelopment() bool {
	a, ok := (*s.accounts.Current.Load())[accounts.Development]
	return ok && slices.ContainsFunc(a.Keys[:], accounts.IsDevelopmentKey)
}

// page is where a browser that asks for / is sent.
func (s *serving) page() string {
	if s.explorer.serves(s.listener.Addr(), s.serveFlags) {
		return explorer.Prefix
	}
	return ""
}

// explorerHosts are the names of the server that it knows.
func explorerHosts(o *serveFlags) (names explorer.Hosts) {
	if host, _, err := net.SplitHostPort(o.listen); err == nil && host != "" {
		names = append(names, strings.ToLower(host))
	}
	if u, err := url.Parse(o.publicURL); err == nil && u.Host != "" {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	for _, domain := range o.acme.domains {
		names = append(names, strings.ToLower(domain))
	}
	return names
}
