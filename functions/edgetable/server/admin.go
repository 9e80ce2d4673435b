package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"sync"
	"time"

	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/bounded"
)

// openAdmin serves the socket until stop, which waits for what uses the store. Without a data directory there is a socket only if one is named.
func (s *serving) openAdmin() (stop func(), err error) {
	stop = func() {}
	if !s.hasSocket() {
		return stop, nil
	}
	l, err := admin.Listen(admin.Socket(s.DataDirectory(), s.admin))
	if err != nil && s.admin != "" {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	if err != nil { // the system may have no such sockets
		s.log.Warn("commands such as 'edgetable backup create' cannot reach this server", "cause", err)
		return stop, nil
	}
	return s.serveAdmin(l), nil
}

func (s *serving) hasSocket() bool { return s.admin != "" || s.DataDirectory() != "" }

func (s *serving) serveAdmin(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	var using sync.RWMutex // the store
	if store := s.backend.Embedded; store != nil {
		mux.HandleFunc("GET /identity", func(w http.ResponseWriter, _ *http.Request) {
			using.RLock()
			defer using.RUnlock()
			name, err := store.Identity()
			answerAdmin(w, name, err)
		})
		mux.HandleFunc("POST /checkpoint", func(w http.ResponseWriter, r *http.Request) {
			using.RLock()
			defer using.RUnlock()
			log, err := store.Checkpoint(r.Context(), filepath.Join(s.DataDirectory(), backup.Staging))
			if err != nil {
				answerAdmin(w, "", err)
				return
			}
			answerJSON(w, log)
		})
	}
	if s.backend.Embedded != nil {
		mux.HandleFunc("POST /promote", func(w http.ResponseWriter, r *http.Request) {
			using.RLock()
			defer using.RUnlock()
			if s.follower == nil {
				answerAdmin(w, "", fmt.Errorf("%s is a primary already", s.DataDirectory()))
				return
			}
			done, err := s.follower.Promote(r.Context(), r.URL.Query().Get("force") == "true", s.backup.KeepLogs())
			if err == nil {
				s.backups.Resume()
			}
			answerAdmin(w, done.String(), err)
		})
	}
	s.statistics.serve(mux)
	s.serveInfo(mux)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	profiles, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return profiles },
	}
	go func() {
		if err := bounded.Serve(server, l, besideConnections); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the socket for administration failed", "cause", err)
		}
	}()
	return func() {
		cancel()
		using.Lock() // for good
		end, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if server.Shutdown(end) != nil {
			_ = server.Close() // of a client that does not read its profile
		}
	}
}

func answerAdmin(w http.ResponseWriter, text string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, text)
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// serveInfo answers 'edgetable explorer'.
func (s *serving) serveInfo(mux *http.ServeMux) {
	mux.HandleFunc("POST /link", func(w http.ResponseWriter, _ *http.Request) {
		link, err := s.invite()
		if err != nil {
			answerAdmin(w, "", err)
			return
		}
		answerJSON(w, link)
	})
	mux.HandleFunc("GET /server", func(w http.ResponseWriter, _ *http.Request) {
		at := greeting{serveFlags: s.serveFlags, at: s.listener.Addr()}
		info := s.accounts.Describe()
		info.URL, info.Listens = at.url(), s.listener.Addr().String()
		answerJSON(w, info)
	})
}
