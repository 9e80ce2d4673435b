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
	"edgetable/functions/explorer"
)

// greeting is what a server says of itself when it starts.
type greeting struct {
	*serveFlags
	list         accounts.List
	accountsFile string // that they are from; "" for none
	backend      *backend
	at           net.Addr
	metrics      net.Listener // or nil
}

// greet says where the server is and how to talk to it. The only key it shows,
// and signs with, is that of the development account.
func (p *serverProgram) greet(g *greeting) {
	fmt.Fprintf(p.out, "edgetable %s listens on %s and keeps its tables %s\n", version(), g.at, g.backend.place)
	if g.metrics != nil {
		fmt.Fprintf(p.out, "metrics at http://%s/metrics\n", g.metrics.Addr())
	}
	if g.explorer.serves(g.at, g.serveFlags) {
		fmt.Fprintf(p.out, "explorer at %s%s\n", g.url(), explorer.Prefix)
	}
	if g.backup.to != "" {
		fmt.Fprintf(p.out, "backups every %s to %s\n", showDuration(g.backup.every), g.backup.to)
	}
	if g.bearer.issuer != "" {
		fmt.Fprintf(p.out, "bearer tokens of %s for %s\n", g.bearer.issuer, strings.Join(g.bearer.audiences, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(g.list)) {
		endpoint := g.url() + "/" + name
		tables := endpoint + "/Tables"
		account, key, try := g.list[name], "<its key>", "try                "+g.sign(tables)
		if name == accounts.Development && accounts.IsDevelopmentKey(account.Keys[0]) {
			key, try = accounts.DevelopmentKey, "try                "+curl(&account.Account, "GET", tables, time.Now())
			if g.skew > 0 {
				try += "  # within " + showDuration(g.skew)
			}
		}
		fmt.Fprintf(p.out, "\nAccount %s\n  endpoint           %s\n  connection string  %s\n  %s\n", name, endpoint, connectionString(name, key, endpoint), try)
	}
	fmt.Fprintln(p.out, "\nready")
}

// url is what the endpoints of accounts begin with.
func (g *greeting) url() string {
	switch {
	case g.publicURL != "":
		return strings.TrimSuffix(g.publicURL, "/")
	case g.tlsCert != "" || len(g.acme.domains) > 0:
		return "https://" + g.host()
	}
	return "http://" + g.host()
}

// host is the host of URLs of the server: the name in --listen, for which it may
// have a certificate. For all addresses it is one that works from this machine.
func (g *greeting) host() string {
	host, _, err := net.SplitHostPort(g.listen)
	tcp, ok := g.at.(*net.TCPAddr)
	if err != nil || !ok {
		return g.at.String()
	}
	switch {
	case len(g.acme.domains) > 0 && tcp.Port == 443:
		return g.acme.domains[0]
	case len(g.acme.domains) > 0:
		host = g.acme.domains[0]
	case tcp.IP.IsUnspecified():
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

// sign is the command line that signs a request with a key of the user's own.
func (g *greeting) sign(target string) string {
	from := ""
	if g.accountsFile != "" {
		from = "--accounts " + quote(g.accountsFile) + " "
	}
	return "edgetable sign " + from + "GET " + quote(target)
}
