package main

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/core/accounts"
)

// greeting is what a server says of itself when it starts.
type greeting struct {
	*serveFlags
	list  accounts.List
	place string // where the tables are
	at    net.Addr
	admin net.Listener // or nil
}

// greet says where the server is and how to talk to it. The only key it shows,
// and signs with, is the one that everybody knows.
func (p *program) greet(g *greeting) {
	fmt.Fprintf(p.out, "edgetable %s listens on %s and keeps its tables %s\n", version(), g.at, g.place)
	if g.admin != nil {
		fmt.Fprintf(p.out, "health, metrics and backups at http://%s\n", g.admin.Addr())
	}
	if g.bearer.issuer != "" {
		fmt.Fprintf(p.out, "bearer tokens of %s for %s\n", g.bearer.issuer, strings.Join(g.bearer.audiences, ", "))
	}
	scheme := "http"
	if g.tlsCert != "" {
		scheme = "https"
	}
	for _, name := range slices.Sorted(maps.Keys(g.list)) {
		endpoint := fmt.Sprintf("%s://%s/%s", scheme, g.host(), name)
		tables := endpoint + "/Tables"
		account, key, try := g.list[name], "<its key>", "try                "+g.sign(tables)
		if name == accounts.Development && accounts.IsDevelopmentKey(account.Keys[0]) {
			key, try = accounts.DevelopmentKey, "try                "+curl(&account.Account, "GET", tables, time.Now())
			if g.skew > 0 {
				try += fmt.Sprintf("  # within %v", g.skew)
			}
		}
		fmt.Fprintf(p.out, "\nAccount %s\n  endpoint           %s\n  connection string  DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;TableEndpoint=%s;\n  %s\n",
			name, endpoint, scheme, name, key, endpoint, try)
	}
	fmt.Fprintln(p.out, "\nready")
}

// host is what URLs of the server have: the name it was told to listen on, for
// which it may have a certificate, and if that is every address one that works
// from here.
func (g *greeting) host() string {
	host, _, err := net.SplitHostPort(g.listen)
	tcp, ok := g.at.(*net.TCPAddr)
	if err != nil || !ok {
		return g.at.String()
	}
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

// sign is the command line that signs a request with a key of the user's own.
func (g *greeting) sign(target string) string {
	from := ""
	if g.accounts != "" {
		from = "--accounts " + quote(g.accounts) + " "
	}
	return "edgetable sign " + from + "GET " + quote(target)
}
