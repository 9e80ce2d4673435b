package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"edgetable/adapters/guard/chaos"
	"edgetable/adapters/identity/oidc"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/protocol"
)

// serving is what a server is made of.
type serving struct {
	*serveFlags
	log         *slog.Logger
	bearer      *oidc.Verifier // nil: no bearer tokens are accepted
	accounts    *knownAccounts
	certificate *certificate // nil: plain HTTP
	faults      *chaos.Chaos // nil: none are simulated
	listener    net.Listener
	access      *accessLog // nil: none
	metrics     *metrics   // nil: none are served
	metricsAt   net.Listener
	metricsKey  *metricsToken // nil: none is asked for
	traces      *traces       // nil: none are sent
	backend     *backend
	statistics  *statistics
}

func (p *serverProgram) runServer(ctx context.Context, o *serveFlags) (err error) {
	s := &serving{serveFlags: o, log: p.logger(o.logFormat, o.logLevel)}
	if err := s.prepare(ctx, p); err != nil {
		return err
	}
	defer s.access.close()
	if s.listener, err = net.Listen("tcp", o.listen); err != nil {
		return fmt.Errorf("%w (choose another address with --listen, such as 127.0.0.1:10003)", err)
	}
	defer s.listener.Close()
	if err := s.protectSecrets(); err != nil {
		return err
	}
	if o.metrics.listen != "" {
		s.metrics = newMetrics(version())
		if s.metricsAt, err = o.metrics.listenMetrics(s.log); err != nil {
			return err
		}
		defer s.metricsAt.Close()
	}
	if s.traces, err = o.traces.open(ctx, s.log); err != nil {
		return err
	}
	defer s.traces.close()
	from := &opening{log: s.log, metrics: s.metrics, requests: o.protect.concurrent + o.protect.reads, environment: p.environment}
	if s.backend, err = o.kind().open(ctx, from); err != nil {
		return err
	}
	if err = p.serveUntil(ctx, s); err != nil {
		s.log.Error("stopped", "cause", err)
		return err
	}
	s.log.Info("stopped")
	return nil
}

// prepare reads everything that can be wrong without a port or a store.
func (s *serving) prepare(ctx context.Context, p *serverProgram) (err error) {
	if s.bearer, err = s.serveFlags.bearer.verifier(ctx, s.log); err != nil {
		return err
	}
	if s.faults, err = s.chaos.load(); err != nil {
		return err
	}
	if s.faults != nil {
		s.log.Warn("faults are simulated: this is no server to rely on")
	}
	s.accounts = &knownAccounts{
		source: newAccountSource(p.environment, s.serveFlags.accounts, s.dataDirectory()), log: s.log,
		refuse: func(accounts.List) error { return nil }, // until the address is known
	}
	if _, err := s.accounts.load(true); err != nil {
		return err
	}
	if s.metricsKey, err = loadMetricsToken(s.serveFlags.metrics.token, s.log); err != nil {
		return err
	}
	if s.certificate, err = s.serveFlags.loadCertificate(s.log); err != nil {
		return err
	}
	s.access, err = openAccessLog(s.accessLog, s.logFormat == "json", p.err, s.log)
	return err
}

// protectSecrets refuses to send secrets over a network in plain text, and warns if
// the network can read requests.
func (s *serving) protectSecrets() error {
	if loopback(s.listener.Addr()) {
		return nil
	}
	s.accounts.refuse = func(list accounts.List) error {
		if list.HasDevelopmentKey() && !s.devAnywhere {
			return errors.New("the development account's key is known to everybody, so it is served on loopback alone: " +
				"make accounts with 'edgetable account new', or listen on 127.0.0.1, or say --allow-development-account")
		}
		return nil
	}
	list := *s.accounts.current.Load()
	if err := s.accounts.refuse(list); err != nil {
		return err
	}
	if list.HasDevelopmentKey() {
		s.log.Warn("whoever reaches this address can read and change everything in the development account", "address", s.listener.Addr())
	}
	switch {
	case s.certificate != nil || s.trustProxy:
	case s.bearer != nil:
		return errors.New("bearer tokens can be read on the way here: serve HTTPS with --tls-cert and --tls-key, or say --trust-proxy behind a proxy that does, or listen on 127.0.0.1")
	default:
		s.log.Warn("plain HTTP: the network can read and change requests; serve HTTPS with --tls-cert and --tls-key, or say --trust-proxy behind a proxy that does", "address", s.listener.Addr())
	}
	return nil
}

// serveUntil serves until ctx ends, drains, and closes the store.
func (p *serverProgram) serveUntil(ctx context.Context, s *serving) error {
	backups, err := scheduleBackups(ctx, &s.backup, s.dataDirectory(), s.backend.embedded, s.log)
	if err != nil {
		return errors.Join(err, s.backend.close())
	}
	s.backend.store = s.traces.store(s.backend.store, s.backend.system)
	handler := newProtocol(s.backend, s.accounts, s.serveFlags)
	if s.bearer.Install(handler); s.bearer != nil {
		// A misspelt issuer shows in the log now. Account keys work
		// without it.
		go func() { _ = s.bearer.Ready(ctx) }()
	}
	if s.faults != nil {
		handler.Gate = s.faults
		handler.Service = newService(s.faults.Store(s.backend.store), s.backend.scan)
	}
	health := &health{check: s.backend.ready, fresh: s.backend.fresh, log: s.log}
	limiter := s.protect.limiter(handler)
	requests := newRequestLog(s.log, s.access, s.slowQuery)
	s.statistics = openStatistics(s.dataDirectory(), s.log)
	server := httpserver.Server{
		Log: s.log, TLS: s.certificate.config(), Grace: s.grace,
		Handler: &httpserver.Handler{
			Protocol: s.traces.protocol(limiter), TrustProxy: s.trustProxy, Own: s.own(health),
			Observe: func(resp *protocol.Response, end time.Time) {
				s.metrics.observe(resp)
				requests.observe(resp, end)
				s.statistics.observe(resp)
			},
		},
	}
	stopAdmin, err := s.openAdmin()
	if err != nil {
		return errors.Join(err, s.backend.close())
	}
	stopMetrics := func() {}
	if s.metrics != nil {
		watchQueue(s.metrics, limiter)
		watchConnections(s.metrics, &server)
		watchCertificate(s.metrics, s.certificate)
		watchFaults(s.metrics, s.faults)
		watchBackups(s.metrics, backups)
		stopMetrics = serveMetrics(s.metricsAt, s.metrics, s.metricsKey, s.log)
	}
	hangup := p.hangups() // from here on SIGHUP does not end the process
	var beside sync.WaitGroup
	beside.Go(func() { s.reload(ctx, hangup) })
	beside.Go(func() { s.statistics.keep(ctx) })
	if backups != nil {
		beside.Go(func() { backups.serve(ctx) })
	}
	for _, job := range s.backend.jobs {
		beside.Go(func() { job(ctx) })
	}
	p.greet(&greeting{serveFlags: s.serveFlags, backend: s.backend, list: *s.accounts.current.Load(), accountsFile: s.accounts.file, at: s.listener.Addr(), metrics: s.metricsAt})
	p.notify("READY=1", s.log)
	if s.certificate != nil && s.certificate.obtained != nil {
		s.certificate.obtained.obtain(ctx)
	}
	err = server.Serve(p.draining(ctx, s, health), s.listener)
	stopAdmin()
	stopMetrics()
	if err != nil {
		// Requests may be running still. The store is left to them as by a
		// crash, which loses nothing.
		return err
	}
	beside.Wait()
	s.statistics.write()
	s.accounts.noteUsed(0)
	health.wait()
	return s.backend.close()
}

// draining ends some time after ctx does: until then load balancers see that the
// server is not ready.
func (p *serverProgram) draining(ctx context.Context, s *serving, h *health) context.Context {
	drained, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		h.draining.Store(true)
		s.log.Info("stopping", "why", context.Cause(ctx), "drain", s.drain, "grace", s.grace)
		p.notify("STOPPING=1", s.log)
		if s.drain > 0 {
			time.Sleep(s.drain)
		}
	})
	return drained
}

// reload applies changes of files until ctx ends.
func (s *serving) reload(ctx context.Context, hangup <-chan os.Signal) {
	list := []func(asked bool){s.accounts.reload}
	if s.certificate != nil {
		list = append(list, s.certificate.reload)
	}
	if s.access != nil {
		list = append(list, s.access.reload)
	}
	if s.metricsKey != nil {
		list = append(list, s.metricsKey.reload)
	}
	watch(ctx, hangup, s.log, list...)
}
