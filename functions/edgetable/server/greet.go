package server

import (
	"cmp"
	"fmt"
	"log/slog"
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
	"edgetable/functions/explorer"
)

// greet prints the address of the server and how to use it. It prints no key except that of the development account,
// and signs with no other key.
func (p *program) greet(s *serving) {
	list := *s.accounts.Current.Load()
	if s.logFormat == "json" {
		p.greetJSON(s)
		return
	}
	fmt.Fprintf(p.Out, "edgetable %s listens on %s and keeps its tables %s\n", cli.Version(), s.listener.Addr(), s.backend.Place)
	if others := s.externalURL(); others != "" {
		fmt.Fprintf(p.Out, "other machines reach it at %s; --public-url changes the address in the lines below\n", others)
	}
	if s.metricsAt != nil {
		fmt.Fprintf(p.Out, "metrics at http://%s/metrics\n", s.metricsAt.Addr())
	}
	if s.servesPage() {
		fmt.Fprintf(p.Out, "explorer at %s%s\n", s.url(), explorer.Prefix)
	}
	if s.backup.To != "" {
		fmt.Fprintf(p.Out, "backups every %s to %s\n", cli.ShowDuration(s.backup.Every), s.backup.To)
	}
	if s.serveFlags.bearer.issuer != "" {
		fmt.Fprintf(p.Out, "bearer tokens of %s for %s\n", s.serveFlags.bearer.issuer, strings.Join(s.serveFlags.bearer.audiences, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		known := list[name]
		endpoint := cmp.Or(known.Endpoint, s.url()+"/"+name)
		tables := endpoint + "/Tables"
		connection, try := "printed once by 'edgetable account new "+name+"'; 'account rotate "+name+"' makes another key", s.signing(tables)
		if name == accounts.Development && accounts.IsDevelopmentKey(known.Keys[0]) {
			connection, try = account.ConnectionString(name, accounts.DevelopmentKey, endpoint), account.Curl(&known.Account, "GET", tables, time.Now())
			if s.skew > 0 {
				try += "  # within " + cli.ShowDuration(s.skew)
			}
		}
		fmt.Fprintf(p.Out, "\nAccount %s\n  endpoint           %s\n  connection string  %s\n  try                %s\n", name, endpoint, connection, try)
	}
	fmt.Fprintln(p.Out)
	for _, line := range p.announced(s) {
		fmt.Fprintln(p.Out, line)
	}
	fmt.Fprintln(p.Out, "ready")
}

// announced returns lines of Azurite's output, if the server was started in place of Azurite. Programs that start
// Azurite wait for these lines.
func (p *program) announced(s *serving) []string {
	if p.Announce == nil {
		return nil
	}
	return p.Announce(s.url())
}

// greetJSON prints in one JSON line that the server is ready. In a container, standard output and the log are the
// same stream, so a line must have the format of the log.
func (p *program) greetJSON(s *serving) {
	list := *s.accounts.Current.Load()
	endpoints := map[string]string{}
	for name := range list {
		endpoints[name] = cmp.Or(list[name].Endpoint, s.url()+"/"+name)
	}
	about := []any{"version", cli.Version(), "listen", s.listener.Addr().String(), "place", s.backend.Place, "endpoints", endpoints}
	if s.metricsAt != nil {
		about = append(about, "metrics", "http://"+s.metricsAt.Addr().String()+"/metrics")
	}
	if s.servesPage() {
		about = append(about, "explorer", s.url()+explorer.Prefix)
	}
	if s.backup.To != "" {
		about = append(about, "backup_to", s.backup.To, "backup_every", cli.ShowDuration(s.backup.Every))
	}
	if others := s.externalURL(); others != "" {
		about = append(about, "elsewhere", others)
	}
	if said := p.announced(s); said != nil {
		about = append(about, "says", said)
	}
	slog.New(slog.NewJSONHandler(p.Out, nil)).Info("ready", about...)
}

// url returns the URL of the server, without an account. It contains the host name in --listen, because the
// certificate may be for that name.
func (s *serving) url() string {
	a := admin.Address{Public: s.publicURL, Listen: s.listen, TLS: s.tlsCert != "", Domains: s.acme.domains}
	host, _, err := net.SplitHostPort(s.listen)
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	if err != nil || !ok {
		return a.URL("127.0.0.1", "10002", false) // cannot happen: the listener is always a TCP listener
	}
	return a.URL(host, strconv.Itoa(tcp.Port), tcp.IP.IsUnspecified())
}

// externalURL returns the URL at which other machines reach a server that listens on all addresses. The printed
// endpoints of such a server contain 127.0.0.1. If the server has a public URL or a domain, or listens on only one
// address, the result is "".
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

// firstGlobal returns the first address that other machines may reach. It prefers IPv4 addresses. If other machines can
// reach no address in the list, firstGlobal returns "".
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

// signing returns a command line of 'edgetable sign' for a request with one of the user's keys.
func (s *serving) signing(target string) string {
	from := ""
	if s.accounts.File != "" {
		from = "--accounts " + cli.Quote(s.accounts.File) + " "
	}
	where := ""
	if s.listenFromImage {
		where = "  # in the container"
	}
	return "edgetable sign " + from + "GET " + cli.Quote(target) + where
}
