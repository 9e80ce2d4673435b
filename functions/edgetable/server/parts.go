package server

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/adapters/observe"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/changefeed"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/stores"
)

// openBackups opens the backup location, except on a secondary without a store.
func (s *serving) openBackups(ctx context.Context) (err error) {
	if s.follower.Unbuilt() {
		return nil
	}
	if s.backups, err = backup.Open(ctx, &s.backup, s.DataDirectory(), s.backend.Embedded, s.log); s.backups != nil {
		s.backups.Paused = s.follower.IsFollowing
		s.backups.Admit(ctx)
	}
	return err
}

// newHandler returns the protocol handler. The traces wrap the store, and the simulated faults wrap the traced store.
func (s *serving) newHandler(ctx context.Context) *protocol.Handler {
	s.statistics = OpenStatistics(s.DataDirectory(), s.log)
	h := &protocol.Handler{
		Service:     stores.NewService(s.backend.Store, s.backend.Scan),
		Accounts:    s.accounts.Find,
		Now:         stores.Now,
		NewID:       protocol.RandomID(rand.Uint64),
		WithTimeout: context.WithTimeout,
		MaxSkew:     s.skew,
		PathStyle:   s.pathStyle,
		Extensions:  s.extensions,
		Limits:      s.protect.buckets(stores.Now),
		Secondary:   s.isSecondary,
		Traffic:     s.statistics.ReportJSON,
		Waiters:     &changefeed.Waiters{Account: changefeed.MostOfAccount, All: cmp.Or(s.bounds.Requests, leastRequests) / 2},
	}
	if s.bearer.Install(h); s.bearer != nil {
		// Contact the issuer now, so that a wrong issuer is logged early. Account keys do not depend on it.
		go func() { _ = s.bearer.Ready(ctx) }()
	}
	if s.faults != nil {
		h.Gate = s.faults
		h.Service = stores.NewService(s.faults.Store(s.backend.Store), s.backend.Scan)
	}
	return h
}

// newServer returns the HTTP server. The server passes each request to the given admission queue.
func (s *serving) newServer(h *protocol.Handler, limited *admission.Limiter, health *health) *httpserver.Server {
	requests := observe.NewRequestLog(s.log, s.access, s.slowQuery)
	return &httpserver.Server{
		Log: s.log, TLS: s.certificate.config(), Grace: s.grace, Bounds: s.bounds,
		Handler: &httpserver.Handler{
			Protocol: s.traces.Protocol(limited), TrustProxy: s.trustProxy, Own: s.ownHandler(health), Page: s.page(),
			Refuse: h.Refuse,
			Observe: func(resp *protocol.Response, end time.Time) {
				s.metrics.Observe(resp)
				requests.Observe(resp, end)
				s.statistics.Observe(resp)
			},
		},
	}
}

// watch serves the metrics, if this is configured, until the returned function is called.
func (s *serving) watch(limited *admission.Limiter, server *httpserver.Server, waiters *changefeed.Waiters) (stop func()) {
	if s.metrics == nil {
		return func() {}
	}
	watchQueue(s.metrics, limited)
	watchConnections(s.metrics, server)
	watchCertificate(s.metrics, s.certificate)
	watchFaults(s.metrics, s.faults)
	watchBackups(s.metrics, s.backups)
	watchLog(s.metrics, s.backups)
	watchExpiry(s.metrics, s.expiry)
	if s.feeds != nil {
		watchFeeds(s.metrics, waiters)
	}
	if s.follower != nil {
		watchSecondary(s.metrics, s.follower.Status)
	} else if s.backend.Replica != nil {
		watchSecondary(s.metrics, replicaStatus(s.backend.Replica))
	}
	return serveMetrics(s.metricsAt, s.metrics, s.metricsKey, s.log)
}
