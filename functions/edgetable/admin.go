package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// adminSocket is the socket of a server in its data directory. Commands reach the
// server by it. Only the user of the server, and root, can open it.
const adminSocket = "admin.sock"

// adminFlag is the socket of a server in all commands.
func adminFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "admin", "", "`path` of the server's socket for its administration; default "+adminSocket+" in the data directory"+note)
}

// socketOf is the path of a server's socket.
func socketOf(data, admin string) string { return cmp.Or(admin, filepath.Join(data, adminSocket)) }

// openAdmin serves the socket until stop, which waits for what uses the store. Without a data directory there is a socket only if one is named.
func (s *serving) openAdmin() (stop func(), err error) {
	stop = func() {}
	if s.admin == "" && s.dataDirectory() == "" {
		return stop, nil
	}
	l, err := listenAdmin(socketOf(s.dataDirectory(), s.admin))
	if err != nil && s.admin != "" {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	if err != nil { // the system may have no such sockets
		s.log.Warn("commands such as 'edgetable backup create' cannot reach this server", "cause", err)
		return stop, nil
	}
	return s.serveAdmin(l), nil
}

func (s *serving) serveAdmin(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	var using sync.RWMutex // the store
	if store := s.backend.embedded; store != nil {
		mux.HandleFunc("GET /identity", func(w http.ResponseWriter, _ *http.Request) {
			using.RLock()
			defer using.RUnlock()
			name, err := store.Identity()
			answerAdmin(w, name, err)
		})
		mux.HandleFunc("POST /checkpoint", func(w http.ResponseWriter, r *http.Request) {
			using.RLock()
			defer using.RUnlock()
			answerAdmin(w, "", store.Checkpoint(r.Context(), filepath.Join(s.dataDirectory(), backupStaging)))
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
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
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

// listenAdmin listens on a socket that no other user can open at any moment: it gets
// its mode in a directory that is closed to others.
func listenAdmin(path string) (net.Listener, error) {
	if err := clearSocket(path); err != nil {
		return nil, err
	}
	dir := path + "~"
	if err := os.RemoveAll(dir); err != nil { // of a server that was killed
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w (a path may have about 100 bytes: --admin names another one)", err)
	}
	l.SetUnlinkOnClose(false) // it moves
	if err = os.Chmod(hidden, 0o600); err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return adminListener{l, path}, nil
}

// clearSocket removes the socket of a server that was killed.
func clearSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is no socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("%s is the socket of another server", path)
	}
	return os.Remove(path)
}

// adminListener removes its socket.
type adminListener struct {
	net.Listener
	path string
}

func (l adminListener) Close() error { return errors.Join(l.Listener.Close(), os.Remove(l.path)) }
