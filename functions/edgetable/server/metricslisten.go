package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"

	"edgetable/adapters/observe"
	"edgetable/functions/edgetable/bounded"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/reload"
)

// metricsFlags are the flags for the address of the metrics, and for the file with the bearer token that clients must
// send.
type metricsFlags struct{ listen, token string }

func (o *metricsFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "metrics-listen", "", "`address` for GET /metrics, in the format of Prometheus; default none")
	f.StringVar(&o.token, "metrics-token", "", "`file` with the bearer token that clients must send; without it, everyone may read the metrics")
}

func (o *metricsFlags) check() error {
	if o.token != "" && o.listen == "" {
		return cli.Misuse("--metrics-token is for --metrics-listen")
	}
	return nil
}

// metricsToken is the bearer token for reading the metrics. It is reloaded when its file changes.
type metricsToken struct {
	file string
	log  *slog.Logger

	hash  atomic.Pointer[[sha256.Size]byte]
	files reload.Changes
}

// loadMetricsToken returns the token, or nil if file is "".
func loadMetricsToken(file string, log *slog.Logger) (*metricsToken, error) {
	if file == "" {
		return nil, nil
	}
	t := &metricsToken{file: file, log: log}
	return t, t.load(true)
}

func (t *metricsToken) load(asked bool) error {
	if !t.files.Due(reload.StampOf(t.file), asked) {
		return nil
	}
	token, err := cli.ReadPrivate(t.file)
	if err != nil {
		return fmt.Errorf("--metrics-token: %w", err)
	}
	if token = strings.TrimSpace(token); len(token) < minToken {
		return fmt.Errorf("--metrics-token: %s has a token of %d bytes, but needs at least %d; make one with 'openssl rand -hex 32'", t.file, len(token), minToken)
	}
	hash := sha256.Sum256([]byte(token))
	t.hash.Store(&hash)
	return nil
}

// minToken is the minimum length of a token in bytes. A shorter token could be guessed.
const minToken = 16

// reload loads the token if its file has changed. While the file is invalid, the current token remains in use.
func (t *metricsToken) reload(asked bool) {
	before := t.hash.Load()
	if err := t.load(asked); err != nil {
		t.log.Error("the token for metrics cannot be reloaded; the previous token stays in use", "cause", err)
	} else if t.hash.Load() != before {
		t.log.Info("the token for metrics was reloaded")
	}
}

// admits reports whether a request has the token. The comparison takes constant time.
func (t *metricsToken) admits(r *http.Request) bool {
	if t == nil {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sent := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sent[:], t.hash.Load()[:]) == 1
}

// listenMetrics listens on the address in --metrics-listen. It returns nil without this flag.
func (o *metricsFlags) listenMetrics(log *slog.Logger) (net.Listener, error) {
	if o.listen == "" {
		return nil, nil
	}
	if err := cli.CheckAddress("metrics-listen", o.listen); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	if o.token != "" && !cli.Loopback(l.Addr()) {
		log.Warn("the network can read the token for metrics: use plain HTTP only in a private network", "address", l.Addr())
	}
	return l, nil
}

// besideConnections is the maximum number of connections to the metrics, and to the administration socket. It leaves
// file descriptors for clients.
const besideConnections = 16

// gatherTimeout is the timeout for gathering the metrics, equal to Prometheus' default scrape timeout.
const gatherTimeout = 10 * time.Second

func serveMetrics(l net.Listener, m *observe.Metrics, token *metricsToken, log *slog.Logger) (stop func()) {
	gather := promhttp.HandlerFor(m, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)})
	metrics := http.TimeoutHandler(gather, gatherTimeout, "gathering the metrics took too long") // TimeoutHandler buffers the response, so a slow reader does not block the gathering
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !token.admits(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send Authorization: Bearer with the token of --metrics-token", http.StatusUnauthorized)
			return
		}
		metrics.ServeHTTP(w, r)
	})
	return serveBeside(&http.Server{Handler: mux, WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10}, l, "the listener for metrics failed", log)
}

// serveBeside runs an HTTP server in addition to the table server, until the returned function is called.
func serveBeside(server *http.Server, l net.Listener, failed string, log *slog.Logger) (stop func()) {
	server.ReadTimeout, server.ErrorLog = 10*time.Second, slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	go func() {
		if err := bounded.Serve(server, l, besideConnections); !errors.Is(err, http.ErrServerClosed) {
			log.Error(failed, "cause", err)
		}
	}()
	return func() {
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // this closes connections of clients that do not read the response
		}
	}
}
