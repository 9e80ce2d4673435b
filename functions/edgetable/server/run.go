package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"edgetable/adapters/observe"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/table"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/azurite"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/descriptors"
	"edgetable/functions/edgetable/machine"
	"edgetable/functions/edgetable/stores"
)

func (p *program) runServer(ctx context.Context, o *serveFlags, at *listening) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if err := cli.CheckAddress("listen", o.listen); err != nil {
		return err
	}
	if n := descriptors.Limit(); n > 0 && n < descriptors.Least {
		return fmt.Errorf("the process may open only %d files (ulimit -n), and a server needs at least %d: raise the limit, for example with LimitNOFILE=65536 in the unit of systemd", n, descriptors.Least)
	}
	s := &serving{serveFlags: o, log: p.Logger(o.logFormat, o.logLevel)}
	p.remark(s.log)
	limits, err := machine.ApplyLimits(p.Environment, s.DataDirectory(), s.log)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx, p); err != nil {
		return err
	}
	defer s.access.Close()
	defer s.closeListeners()
	if err := s.openListeners(ctx, at); err != nil {
		return err
	}
	descriptors.Fill()
	if s.traces, err = openTraces(ctx, p.Environment, s.log); err != nil {
		return err
	}
	defer s.traces.Close()
	if err := s.openBackend(ctx, p.Environment, limits, end); err != nil {
		return err
	}
	s.bounds = o.bounds(besideTheCache(s.backend.Cache, s.backend.Tables))
	s.tellLimits(limits)
	if err = p.serveUntil(ctx, s); err != nil {
		s.log.Error("stopped", "cause", err)
		return err
	}
	s.log.Info("stopped")
	if cause := context.Cause(ctx); errors.Is(cause, follow.ErrBuilt) {
		return cause
	}
	return nil
}

// openListeners opens the sockets, or reuses open ones. It fails if secrets would be sent over a network in plain text.
func (s *serving) openListeners(ctx context.Context, at *listening) error {
	// Keep the sockets if the process will serve the store that a secondary has built.
	keep := func() bool { return errors.Is(context.Cause(ctx), follow.ErrBuilt) }
	l, err := at.listenOn(&at.tables, keep, func() (net.Listener, error) { return net.Listen("tcp", s.listen) })
	if err != nil {
		return fmt.Errorf("%w (%schoose another address with --listen, such as 127.0.0.1:10003)", err, holder(ctx, s.listen))
	}
	s.listener = l
	if err := s.protectSecrets(); err != nil || s.serveFlags.metrics.listen == "" {
		return err
	}
	s.metrics = observe.NewMetrics(cli.Version())
	if l, err = at.listenOn(&at.metrics, keep, func() (net.Listener, error) { return s.serveFlags.metrics.listenMetrics(s.log) }); err != nil {
		return err
	}
	s.metricsAt = l
	return nil
}

func (s *serving) closeListeners() {
	for _, l := range []net.Listener{s.metricsAt, s.listener} {
		if l != nil {
			_ = l.Close() // in most cases, the listener is already closed
		}
	}
}

// openBackend opens the store. On a new secondary, it starts building the store instead.
func (s *serving) openBackend(ctx context.Context, environment func(name string) string, limits machine.Limits, end func(error)) (err error) {
	writes, reads := s.protect.slots()
	from := &stores.Opening{Log: s.log, Metrics: s.metrics, Requests: writes + reads, Heap: limits.Heap, Files: limits.Files, Environment: environment, KeepLogs: s.backup.KeepLogs()}
	if from.Secondary = s.second.Of != ""; from.Secondary {
		from.KeepLogs = -1 // a secondary ships no log until it is promoted
		if s.follower, err = s.second.Build(ctx, s.DataDirectory(), s.log, end); err != nil {
			return err
		}
	}
	if s.follower != nil { // the store must be built first
		s.backend = stores.Unbuilt(s.follower, s.DataDirectory())
		return nil
	}
	return s.openStore(ctx, from, end)
}

// openStore opens the store. On a secondary, it also opens the Follower that applies the primary's log.
func (s *serving) openStore(ctx context.Context, from *stores.Opening, end func(error)) (err error) {
	w := &waitingServer{serving: s}
	slow := time.AfterFunc(cli.Quiet, func() { w.start(nil) })
	from.OnRetry = w.start
	s.backend, err = s.Kind().Open(ctx, from)
	slow.Stop()
	if e := w.end(); e != nil && err == nil {
		err = errors.Join(e, s.backend.Close())
	}
	if err != nil || !from.Secondary {
		return err
	}
	s.follower, err = s.second.Open(ctx, s.backend.Embedded.Store, s.DataDirectory(), s.log, end)
	if err != nil {
		return errors.Join(err, s.backend.Close())
	}
	if s.follower != nil {
		s.backend.Store = s.follower
	} else if err := s.backend.Embedded.KeepLogs(s.backup.KeepLogs()); err != nil {
		return errors.Join(err, s.backend.Close())
	}
	return nil
}

// prepare does everything that requires neither sockets nor the store. It fails if a setting is invalid.
func (s *serving) prepare(ctx context.Context, p *program) (err error) {
	if s.bearer, err = s.serveFlags.bearer.verifier(ctx, s.log); err != nil {
		return err
	}
	if s.faults, err = s.chaos.load(); err != nil {
		return err
	}
	if s.faults != nil {
		s.log.Warn("faults are simulated: do not rely on this server")
	}
	s.accounts = &account.Known{
		Source: p.accounts(s.serveFlags), Log: s.log,
		Refuse: func(accounts.List) error { return nil }, // protectSecrets replaces this function when the address is known
	}
	if _, err := s.accounts.Load(true); err != nil {
		return err
	}
	if without := s.accounts.WithoutAudience(); s.bearer != nil && len(without) > 0 {
		s.log.Warn("bearer tokens of these accounts are refused: on a server with several accounts, add audience=… to the line of each", "accounts", strings.Join(without, " "))
	}
	if s.metricsKey, err = loadMetricsToken(s.serveFlags.metrics.token, s.log); err != nil {
		return err
	}
	if s.certificate, err = loadCertificate(s.tlsCert, s.tlsKey, &s.acme, s.log, p.Announce != nil); err != nil {
		return err
	}
	s.access, err = observe.OpenAccessLog(s.accessLog, s.logFormat == "json", p.Err, s.log)
	return err
}

// accounts returns the source of accounts. If the server was started as Azurite, this may be Azurite's variable.
func (p *program) accounts(o *serveFlags) account.Source {
	if p.AzuriteAccounts != "" {
		return account.WeakSource(p.AzuriteAccounts, azurite.AccountsVariable)
	}
	return account.NewSource(p.Environment, o.accounts, o.DataDirectory())
}

// remedy returns advice for a server that has only the development account. In a container, it does not suggest a
// loopback address, which nobody could reach.
func (s *serving) remedy() string {
	if s.listenFromImage {
		return "make an account with 'docker run --rm -v VOLUME:/data IMAGE account new NAME', or use --allow-development-account (the variable EDGETABLE_ALLOW_DEVELOPMENT_ACCOUNT=true)"
	}
	return "make accounts with 'edgetable account new', or listen on 127.0.0.1, or use --allow-development-account"
}

// protectSecrets fails if secrets would be sent over a network in plain text. It logs a warning if the network can read
// requests.
func (s *serving) protectSecrets() error {
	if cli.Loopback(s.listener.Addr()) {
		return nil
	}
	s.accounts.Refuse = func(list accounts.List) error {
		if list.HasDevelopmentKey() && !s.devAnywhere {
			return errors.New("the development account's key is public, so it is served only on loopback: " + s.remedy())
		}
		return nil
	}
	list := *s.accounts.Current.Load()
	if err := s.accounts.Refuse(list); err != nil {
		return err
	}
	if list.HasDevelopmentKey() {
		s.log.Warn("everybody who can reach this address can read and change everything in the development account", "address", s.listener.Addr())
	}
	switch {
	case s.certificate != nil || s.trustProxy:
	case s.bearer != nil:
		return errors.New("the network can read bearer tokens: serve HTTPS with --tls-cert and --tls-key, or use --trust-proxy behind a proxy that serves HTTPS, or listen on 127.0.0.1")
	default:
		s.log.Warn("plain HTTP: the network can read and change requests; serve HTTPS with --tls-cert and --tls-key, or use --trust-proxy behind a proxy that serves HTTPS", "address", s.listener.Addr())
	}
	return nil
}

// serveUntil serves until ctx is done, waits for running requests, and closes the store. The order of the steps
// matters:
//
//   - Backups are opened first. If their location is wrong, only the store must be closed.
//   - The traces wrap the store before the service is created, and the simulated faults wrap the traced store.
//   - The administration socket is opened before SIGHUP is handled and "ready" is printed, so that clients that wait
//     for "ready" can connect at once.
//   - Background jobs start before the first request and stop after the last one. They may use the store until wait
//     returns.
//   - At the end, the socket is closed first, so that no checkpoint starts. The store is closed last: statistics and
//     last uses of keys have then been written, and a running health check has ended.
func (p *program) serveUntil(ctx context.Context, s *serving) error {
	if err := s.openBackups(ctx); err != nil {
		return errors.Join(err, s.backend.Close())
	}
	if s.backend.Embedded != nil {
		s.backend.Store = stores.Leading{Store: s.backend.Store, Primary: s.primaryStatus()}
	}
	s.backend.Store = s.traces.Store(s.backend.Store, s.backend.System)
	handler := s.newHandler(ctx)
	if keepsRules(s.backend.Store) {
		s.expiry = &expiry{
			service: stores.NewService(s.backend.Store, s.backend.Scan), log: s.log, paused: s.isSecondary,
			accounts: func() []string { return slices.Sorted(maps.Keys(*s.accounts.Current.Load())) },
		}
	}
	s.feeds = openFeeds(s.backend.Store, stores.NewService(s.backend.Store, s.backend.Scan), s.isSecondary, s.log)
	health := &health{check: s.ready, fresh: s.backend.ReadyTTL, log: s.log}
	limiter := s.protect.limiter(handler)
	server := s.newServer(handler, limiter, health)
	stopAdmin, err := s.openAdmin()
	if err != nil {
		return errors.Join(err, s.backend.Close())
	}
	stopMetrics := s.watch(limiter, server, handler.Waiters)
	hangup, ticks := p.Hangups(), p.Ticks() // from here on, SIGHUP reloads files and does not terminate the process
	wait := startJobs(ctx, s.jobs(hangup, ticks, s.backups), s.log)
	p.greet(s)
	p.notify("READY=1", s.log)
	if s.certificate != nil && s.certificate.obtained != nil {
		s.certificate.obtained.obtain(ctx)
	}
	err = server.Serve(p.draining(ctx, s, health), s.listener)
	stopAdmin()
	stopMetrics()
	if errors.Is(err, httpserver.ErrCutOff) {
		// Do not close the store, which running requests may still use. Like a crash, this loses no confirmed write.
		// Return no error, because the user stopped the server.
		s.log.Warn("stopped before the last requests ended", "cause", err)
		return nil
	}
	if err != nil {
		return err
	}
	wait()
	health.wait()
	return s.backend.Close()
}

// draining returns a context that is canceled when ctx is done and the drain time has passed. During the drain time
// /_/ready fails, so that load balancers send no new clients.
func (p *program) draining(ctx context.Context, s *serving, h *health) context.Context {
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

// ready is the readiness check, which performs an operation on the store. It fails if the store was replaced, or if the
// data of a secondary is too old.
func (s *serving) ready(ctx context.Context) error {
	err := s.backend.Ready(ctx)
	switch {
	case err != nil:
		return err
	case s.primaryStatus().Replaced() != nil:
		return s.primaryStatus().Err()
	case s.follower != nil:
		return s.follower.Ready()
	case s.backend.Replica != nil:
		if r := s.backend.Replica.Replication(); r.Status != table.Live {
			return fmt.Errorf("%w: its status is %s, LastSyncTime is %s", follow.ErrBehind, r.Status, r.LastSync.Time().Format(time.RFC3339))
		}
	}
	return nil
}
