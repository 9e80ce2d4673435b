package main

import (
	"context"
	"encoding/binary"

	"edgetable/adapters/durableobject"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/throttle"
)

// server answers requests, one at a time.
type server struct {
	*protocol.Handler
	host host
	in   incoming
	line []byte
}

// host is what the module has from around it.
type host struct {
	now    func() edm.Ticks
	random func() uint64
	log    func(level int, line []byte)
	call   func(calls frames) (answers frames)
	kv     func(request frames) (answer frames)
}

// newStore is the one on objects, which the shell calls, and their replica.
func newStore(c *config, h host) (table.Store, error) {
	var accounts []string
	for name := range c.accounts {
		accounts = append(accounts, name)
	}
	store, err := durableobject.New(durableobject.Options{
		Caller: &caller{now: h.now, call: h.call}, Now: h.now, Rand: h.random,
		Buckets: c.buckets, Location: c.location, Catalog: c.catalog, Accounts: accounts,
	})
	if err != nil || c.replica == "" {
		return store, err
	}
	return withReplica(store, h), nil
}

// newServer wires the protocol to a store.
func newServer(c *config, store table.Store, h host) *server {
	s := &server{host: h, Handler: &protocol.Handler{
		Service: table.New(store, table.Options{
			Now: h.now, Rand: h.random, Budget: table.Budget{ScanBytes: c.scannedBytes},
		}),
		Accounts: c.accounts.Find,
		Now:      h.now,
		NewID: func() (id [16]byte) {
			binary.LittleEndian.PutUint64(id[:8], h.random())
			binary.LittleEndian.PutUint64(id[8:], h.random())
			return id
		},
		WithTimeout: withTimeout(h.now),
		MaxSkew:     c.maxSkew,
		SettingsAge: c.settingsAge,
		PathStyle:   c.pathStyle,
		Limits: protocol.Limits{
			Account:   limit(c.rates.account, c.rates.account, h),
			Partition: limit(c.rates.partition, c.rates.partition, h),
			Failures:  limit(c.failures, 10*c.failures, h),
		},
	}}
	if r, ok := store.(interface{ LastSync() edm.Ticks }); ok {
		s.LastSync = r.LastSync
	}
	return s
}

func limit(rate, burst float64, h host) *throttle.Buckets {
	if rate == 0 {
		return nil
	}
	return throttle.New(throttle.Options{Rate: rate, Burst: burst, Keys: 4096, Now: h.now})
}

// refusals are the reasons for which the shell has a request refused unseen.
var refusals = map[string]*table.Error{
	"busy":   table.ServerBusy.With("The Worker has as many requests as it can take."),
	"anew":   table.ServerBusy.With("The Worker had to begin anew, and does not know what it wrote in the last two minutes. Until they are over it does not write."),
	"failed": table.InternalError.Err(),
}

// answer appends the response to a request.
func (s *server) answer(dst, request []byte) []byte {
	begin := s.host.now()
	var resp protocol.Response
	if err := s.in.read(request); err != nil {
		s.in.Request = protocol.Request{Header: fields(nil), Method: "GET", Target: "/", Scheme: "https"}
		resp = s.Refuse(&s.in.Request, table.InternalError.Err())
		resp.Err = err
	} else if refusal, ok := refusals[s.in.refusal]; ok {
		resp = s.Refuse(&s.in.Request, refusal)
	} else {
		resp = s.Serve(context.Background(), &s.in.Request)
	}
	received := s.in.body.Size()
	dst = appendResponse(dst, &resp)
	var level int
	s.line, level = appendRecord(s.line[:0], s.in.Method, &resp, s.host.now()-begin, int(received))
	resp.Release()
	s.host.log(level, s.line)
	return dst
}
