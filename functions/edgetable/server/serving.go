package server

import (
	"log/slog"
	"net"

	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/identity/oidc"
	"edgetable/adapters/observe"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/replicate/ship"
	"edgetable/adapters/transport/httpserver"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/stores"
	"edgetable/functions/explorer"
)

type serving struct {
	*serveFlags
	log         *slog.Logger
	bearer      *oidc.Verifier // nil if bearer tokens are not accepted
	accounts    *account.Known
	certificate *certificate // nil if the server uses plain HTTP
	faults      *chaos.Chaos // nil if no faults are simulated
	listener    net.Listener
	access      *observe.AccessLog // nil if there is no access log
	metrics     *observe.Metrics   // nil if metrics are not served
	metricsAt   net.Listener
	metricsKey  *metricsToken   // nil if reading metrics requires no token
	traces      *observe.Traces // nil if traces are not sent
	backend     *stores.Backend
	follower    *follow.Follower // nil if the server is not a secondary
	backups     *backup.Schedule // nil if the server makes no backups
	statistics  *Statistics
	expiry      *expiry           // nil if the store has no expiry rules
	feeds       *feeds            // nil if the store has no feeds
	consent     *explorer.Consent // nil if the explorer has no access to the server's accounts
	bounds      httpserver.Bounds
}

// isSecondary reports whether the server must not write, because it follows another server, reads a replica, or was
// replaced before it started.
func (s *serving) isSecondary() bool {
	return s.backend.Replica != nil || s.follower.Follows() || s.lead().Fenced()
}

// lead returns the Lead of the embedded store, which says whether the store is the primary. It returns nil for other
// stores.
func (s *serving) lead() *ship.Lead {
	if s.backend.Embedded == nil {
		return nil
	}
	return &s.backend.Embedded.Lead
}
