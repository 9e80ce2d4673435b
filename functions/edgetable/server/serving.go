package server

import (
	"log/slog"
	"net"

	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/identity/oidc"
	"edgetable/adapters/observe"
	"edgetable/adapters/transport/httpserver"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/secondary"
	"edgetable/functions/edgetable/stores"
	"edgetable/functions/explorer"
)

// serving is what a server is made of.
type serving struct {
	*serveFlags
	log         *slog.Logger
	bearer      *oidc.Verifier // nil: no bearer tokens are accepted
	accounts    *account.Known
	certificate *certificate // nil: plain HTTP
	faults      *chaos.Chaos // nil: none are simulated
	listener    net.Listener
	access      *observe.AccessLog // nil: none
	metrics     *observe.Metrics   // nil: none are served
	metricsAt   net.Listener
	metricsKey  *metricsToken   // nil: none is asked for
	traces      *observe.Traces // nil: none are sent
	backend     *stores.Backend
	follower    *secondary.Follower // nil: this is a primary
	backups     *backup.Schedule    // nil: none are made
	statistics  *Statistics
	expiry      *expiry           // nil: the store keeps no rules
	consent     *explorer.Consent // nil: the page opens no accounts of the server
	bounds      httpserver.Bounds
}

// isSecondary reports whether the server follows another one, reads a replica, or was replaced before it started.
func (s *serving) isSecondary() bool {
	return s.backend.Replica != nil || s.follower.Follows() || s.lead().Fenced()
}

// lead says whether the store in the data directory is the primary; nil: there is none.
func (s *serving) lead() *stores.Lead {
	if s.backend.Embedded == nil {
		return nil
	}
	return &s.backend.Embedded.Lead
}
