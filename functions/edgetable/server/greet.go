package server

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
	"edgetable/functions/explorer"
)

// greeting is what a server prints about itself when it starts.
type greeting struct {
	*serveFlags
	list         accounts.List
	accountsFile string // that they are from; "" for none
	backend      *stores.Backend
	at           net.Addr
	metrics      net.Listener // or nil
}

// greet says where the server is and how to talk to it. The only key it shows,
// and signs with, is that of the development account.
func (p *program) greet(g *greeting) {
	fmt.Fprintf(p.Out, "edgetable %s listens on %s and keeps its tables %s\n", cli.Version(), g.at, g.backend.Place)
	if g.metrics != nil {
		fmt.Fprintf(p.Out, "metrics at http://%s/metrics\n", g.metrics.Addr())
	}
	if g.explorer.serves(g.at, g.serveFlags) {
		fmt.Fprintf(p.Out, "explorer at %s%s\n", g.url(), explorer.Prefix)
	}
	if g.backup.To != "" {
		fmt.Fprintf(p.Out, "backups every %s to %s\n", cli.ShowDuration(g.backup.Every), g.backup.To)
	}
	if g.bearer.issuer != "" {
		fmt.Fprintf(p.Out, "bearer tokens of %s for %s\n", g.bearer.issuer, strings.Join(g.bearer.audiences, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(g.list)) {
		endpoint := g.url() + "/" + name
		tables := endpoint + "/Tables"
		known, key, try := g.list[name], "<its key>", "try                "+g.sign(tables)
		if name == accounts.Development && accounts.IsDevelopmentKey(known.Keys[0]) {
			key, try = accounts.DevelopmentKey, "try                "+account.Curl(&known.Account, "GET", tables, time.Now())
			if g.skew > 0 {
				try += "  # within " + cli.ShowDuration(g.skew)
			}
		}
		fmt.Fprintf(p.Out, "\nAccount %s\n  endpoint           %s\n  connection string  %s\n  %s\n", name, endpoint, account.ConnectionString(name, key, endpoint), try)
	}
	fmt.Fprintln(p.Out, "\nready")
}

// url is what the endpoints of accounts begin with. The host is the name in --listen, for
// which the server may have a certificate.
func (g *greeting) url() string {
	a := admin.Address{Public: g.publicURL, Listen: g.listen, TLS: g.tlsCert != "", Domains: g.acme.domains}
	host, _, err := net.SplitHostPort(g.listen)
	tcp, ok := g.at.(*net.TCPAddr)
	if err != nil || !ok {
		return a.URL("127.0.0.1", "10002", false) // no server listens otherwise
	}
	return a.URL(host, strconv.Itoa(tcp.Port), tcp.IP.IsUnspecified())
}

// sign is the command line that signs a request with a key of the user's own.
func (g *greeting) sign(target string) string {
	from := ""
	if g.accountsFile != "" {
		from = "--accounts " + cli.Quote(g.accountsFile) + " "
	}
	return "edgetable sign " + from + "GET " + cli.Quote(target)
}
