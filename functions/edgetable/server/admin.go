package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"sync"

	"edgetable/adapters/replicate/ship"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/secondary"
)

// openAdmin serves the administration socket until the returned function is called. This function waits for commands
// that use the store. Without a data directory, the socket exists only if --admin names a path.
func (s *serving) openAdmin() (stop func(), err error) {
	stop = func() {}
	if !s.hasSocket() {
		return stop, nil
	}
	l, err := admin.Listen(admin.Socket(s.DataDirectory(), s.admin))
	if err != nil && s.admin != "" {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	if err != nil { // the error is not fatal, because some operating systems do not support Unix sockets
		s.log.Warn("commands such as 'edgetable backup create' cannot reach this server", "cause", err)
		return stop, nil
	}
	return s.serveAdmin(l), nil
}

func (s *serving) serveAdmin(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	var using sync.RWMutex // commands hold the read lock while they use the store
	withStore := func(pattern string, ask func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			using.RLock()
			defer using.RUnlock()
			v, err := ask(r)
			writeAnswer(w, v, err)
		})
	}
	if store := s.backend.Embedded; store != nil {
		withStore("GET /identity", func(*http.Request) (any, error) { return store.Identity() })
		withStore("POST /checkpoint", func(r *http.Request) (any, error) {
			return store.Checkpoint(r.Context(), filepath.Join(s.DataDirectory(), backup.Staging))
		})
	}
	if s.backend.Embedded != nil || s.follower != nil {
		withStore("POST /promote", func(r *http.Request) (any, error) {
			return s.promote(r.Context(), r.URL.Query().Get("force") == "true", r.URL.Query().Get("takeover") == "true")
		})
	}
	s.statistics.serve(mux)
	s.serveInfo(mux)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	profiles, cancel := context.WithCancel(context.Background())
	stopServer := serveBeside(&http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return profiles }}, l, "the socket for administration failed", s.log)
	return func() {
		cancel()
		using.Lock() // this waits for running commands; using is never unlocked, so that no later command uses the store
		stopServer()
	}
}

// promote promotes a secondary, or a store that was replaced, to the primary.
func (s *serving) promote(ctx context.Context, force, takeOver bool) (string, error) {
	if s.follower.IsFollowing() {
		done, err := s.follower.Promote(ctx, force, s.backup.KeepLogs())
		if err == nil {
			s.backups.Resume()
		}
		return done.String(), err
	}
	lead := s.primaryStatus()
	if err := secondary.CanTakeOver(s.DataDirectory(), lead.Replaced(), takeOver); err != nil {
		return "", err
	}
	place := s.backups.Place()
	if force {
		place = nil
	} else if !s.backups.ShipsLog() {
		return "", errors.New("the server ships no log. Start the server with --backup-to and --backup-log; or stop it, and name the backup location with --place. With --without-place the server accepts writes, but does not take over the backup location")
	}
	if err := ship.TakeOver(ctx, place, s.backend.Embedded.Store, s.DataDirectory()); err != nil {
		return "", err
	}
	lead.Regain()
	s.backups.Resume()
	s.log.Warn("the store is the primary again", "place", !force)
	return secondary.TakenOver, nil
}

// serveInfo registers the handlers for "edgetable explorer".
func (s *serving) serveInfo(mux *http.ServeMux) {
	mux.HandleFunc("POST /link", func(w http.ResponseWriter, _ *http.Request) {
		link, err := s.invite()
		writeAnswer(w, link, err)
	})
	mux.HandleFunc("GET /server", func(w http.ResponseWriter, _ *http.Request) {
		info := s.accounts.Describe()
		info.URL, info.Listens = s.url(), s.listener.Addr().String()
		writeAnswer(w, info, nil)
	})
}
