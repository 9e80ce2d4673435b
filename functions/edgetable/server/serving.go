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
	bearer      *oidc.Verifier // verifier of bearer tokens; nil if the server does not accept them
	accounts    *account.Known
	certificate *certificate // certificate of the server; nil if the server uses plain HTTP
	faults      *chaos.Chaos // simulated faults; nil if there are none
	listener    net.Listener
	access      *observe.AccessLog // access log; nil if there is none
	metrics     *observe.Metrics   // metrics of the server; nil if the server does not serve them
	metricsAt   net.Listener
	metricsKey  *metricsToken   // token for reading the metrics; nil if no token is required
	traces      *observe.Traces // sender of traces; nil if traces are not sent
	backend     *stores.Backend
	follower    *follow.Follower // follower of the primary; nil if the server is not a secondary
	backups     *backup.Schedule // scheduled backups; nil if there are none
	statistics  *Statistics
	expiry      *expiry           // upkeep for expiry rules; nil if the store has none
	feeds       *feeds            // trimmer of feeds; nil if the store has no feeds
	consent     *explorer.Consent // consent for the explorer; nil if the explorer has no access to the accounts of the server
	bounds      httpserver.Bounds
}

// isSecondary reports whether the server must not write, because it follows another server, reads a replica, or was
// replaced before it started.
func (s *serving) isSecondary() bool {
	return s.backend.Replica != nil || s.follower.IsFollowing() || s.primaryStatus().Fenced()
}

// primaryStatus returns the PrimaryStatus of the embedded store, which says whether the store is the primary. It
// returns nil for other stores.
func (s *serving) primaryStatus() *ship.PrimaryStatus {
	if s.backend.Embedded == nil {
		return nil
	}
	return &s.backend.Embedded.Primary
}
