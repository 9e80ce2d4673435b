package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"edgetable/adapters/httpserver"
	"edgetable/adapters/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, data, accounts string
	memory                 bool
	cache                  int64
	tlsCert, tlsKey        string
	devAnywhere, pathStyle bool
	trustProxy             bool
	skew, grace            time.Duration
	admin                  string
	logFormat, logLevel    string
}

func (p *program) serve(ctx context.Context, args []string) error {
	var o serveFlags
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:10002", "`address` to serve on; port 0 takes a free one")
	f.StringVar(&o.data, "data", "data", "data `directory`, made if missing")
	f.BoolVar(&o.memory, "memory", false, "keep everything in memory: gone when the server ends")
	f.Int64Var(&o.cache, "cache", 128, "memory in `MiB` for data in use")
	f.StringVar(&o.accounts, "accounts", "", "`file` of accounts, name:key1[:key2] a line; default $"+accountsVariable+", else the development account")
	f.StringVar(&o.tlsCert, "tls-cert", "", "`file` with the certificate chain in PEM: serve HTTPS")
	f.StringVar(&o.tlsKey, "tls-key", "", "`file` with the certificate's key in PEM")
	f.BoolVar(&o.devAnywhere, "allow-development-account", false, "serve the development account, whose key everybody knows, to other machines too")
	f.BoolVar(&o.pathStyle, "path-style", false, "take the account from the path whatever the host is")
	f.BoolVar(&o.trustProxy, "trust-proxy", false, "believe X-Forwarded-Proto and X-Forwarded-Host: only behind a proxy that sets them")
	f.DurationVar(&o.skew, "max-skew", 15*time.Minute, "how far the date of a request may be from now; 0 does not check")
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long requests may go on after an interrupt")
	f.StringVar(&o.admin, "admin", "", "`address` on loopback for /healthz, /metrics and /backup; default none")
	f.StringVar(&o.logFormat, "log-format", "text", "`text or json`")
	f.StringVar(&o.logLevel, "log-level", "info", "`debug, info, warn or error`; debug logs every request")
	if err := p.parse(f, args, 0); err != nil {
		return err
	}
	return p.runServer(ctx, &o)
}

func (p *program) runServer(ctx context.Context, o *serveFlags) (err error) {
	log, err := p.logger(o)
	if err != nil {
		return err
	}
	list, err := p.loadAccounts(o.accounts)
	if err != nil {
		return err
	}
	certificates, err := o.tls()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("%w (choose another address with -listen)", err)
	}
	defer listener.Close()
	if list.hasDevKey() && !o.devAnywhere && !loopback(listener.Addr()) {
		return errors.New("the development account's key is known to everybody, so it is served on loopback alone: " +
			"give accounts of your own in $" + accountsVariable + " or with -accounts, or listen on 127.0.0.1, or say -allow-development-account")
	}
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: o.data, Memory: o.memory, CacheSize: o.cache << 20,
		Logf: func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...)) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	metrics := &metrics{store: store, log: log}
	server := httpserver.Server{
		Log: log, TLS: certificates, Grace: o.grace,
		Handler: &httpserver.Handler{
			Protocol: newProtocol(store, list, o), TrustProxy: o.trustProxy, Observe: metrics.observe,
		},
	}
	if o.admin != "" {
		stop, err := startAdmin(ctx, o.admin, metrics)
		if err != nil {
			return err
		}
		defer stop()
	}
	p.greet(o, list, listener.Addr(), certificates != nil)
	return server.Serve(ctx, listener)
}

// newProtocol wires the core to the machine's clock and randomness.
func newProtocol(store table.Store, list accounts, o *serveFlags) *protocol.Handler {
	now := func() edm.Ticks { return edm.TicksOf(time.Now()) }
	return &protocol.Handler{
		Service: table.New(store, table.Options{Now: now, Rand: func() uint64 {
			var b [8]byte
			rand.Read(b[:]) // never fails
			return binary.LittleEndian.Uint64(b[:])
		}}),
		Accounts: list.find,
		Now:      now,
		NewID: func() (id [16]byte) {
			rand.Read(id[:])
			return id
		},
		MaxSkew:   o.skew,
		PathStyle: o.pathStyle,
	}
}

func (o *serveFlags) tls() (*tls.Config, error) {
	if o.tlsCert == "" && o.tlsKey == "" {
		return nil, nil
	}
	if o.tlsCert == "" || o.tlsKey == "" {
		return nil, errors.New("-tls-cert and -tls-key go together")
	}
	c, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

func (p *program) logger(o *serveFlags) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, fmt.Errorf("-log-level is debug, info, warn or error, not %q", o.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(p.err, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(p.err, options)), nil
	}
	return nil, fmt.Errorf("-log-format is text or json, not %q", o.logFormat)
}

// loopback reports whether only this machine can reach the address.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// greet says where the server is and how to talk to it.
func (p *program) greet(o *serveFlags, list accounts, at net.Addr, secure bool) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	place := "in " + o.data
	if o.memory {
		place = "in memory, gone when it ends"
	}
	fmt.Fprintf(p.out, "edgetable %s keeps its tables %s\n", version(), place)
	for name, account := range list {
		endpoint := fmt.Sprintf("%s://%s/%s", scheme, at, name)
		key := "<its key>"
		dev := name == devAccount && list.hasDevKey()
		if dev {
			key = devKey
		}
		fmt.Fprintf(p.out, "\nAccount %s\n  endpoint           %s\n  connection string  DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;TableEndpoint=%s;\n",
			name, endpoint, scheme, name, key, endpoint)
		if dev {
			fmt.Fprintf(p.out, "  try (within %s)  %s\n", strings.TrimSuffix(o.skew.String(), "0s"), curl(account, "GET", endpoint+"/Tables", time.Now()))
		}
	}
	fmt.Fprintln(p.out, "\nready")
}
