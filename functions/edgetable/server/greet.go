package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/explorer"
)

// greet prints the addresses of the server and how to use it. The only key that it uses and prints is the key of the
// development account, which is published and not secret.
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

// announced returns the lines of Azurite's output for which a program waits after it has started Azurite. It returns
// nil if the server was not started as Azurite.
func (p *program) announced(s *serving) []string {
	if p.Announce == nil {
		return nil
	}
	return p.Announce(s.url())
}

// greetJSON prints the ready message as JSON. In a container, standard output and the log are one stream, so the
// message has the format of the log.
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
