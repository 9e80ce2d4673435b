package main

import (
	"context"
	"encoding/binary"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// server answers requests, one at a time.
type server struct {
	*protocol.Handler
	host host
	in   incoming
	resp protocol.Response
	line []byte
}

// host has the functions that the JavaScript shell provides to the module.
type host struct {
	now    func() edm.Ticks
	random func() uint64
	log    func(level int, line []byte)
	call   func(calls []durableobject.Call, ms uint32, writes bool) (answers frames)
	kv     func(request frames) (answer frames)
	known  func(question []byte) (answer []byte)                   // function that asks the instance with the isolate's cache
	limit  func(which int, key string, n int) (wait time.Duration) // function that calls the isolate's rate limiter, or nil if this instance has its own
	// pageBytes is the maximum size of the entities of a page, unless a single entity is larger; 0 means the
	// protocol's limit.
	pageBytes int
	// keptBuffer is [protocol.Handler.KeptBuffer].
	keptBuffer int
}

// newStore creates the store with Durable Objects, and with a replica if one is configured.
func newStore(c *config, h host) (table.Store, error) {
	o := c.newTables()
	o.Caller, o.Now, o.Rand, o.Maps, o.Catalog = &caller{now: h.now, call: h.call}, h.now, h.random, h.known, c.catalog
	store, err := durableobject.New(o)
	if err != nil || c.replica == "" {
		return store, err
	}
	return withReplica(store, h), nil
}

// newTables returns the options for new tables: the number of buckets and the location.
func (c *config) newTables() durableobject.Options {
	return durableobject.Options{Buckets: c.buckets, Location: c.location}
}

func newServer(c *config, store table.Store, h host) *server {
	s := &server{host: h, Handler: &protocol.Handler{
		Service: table.New(store, table.Options{
			Now: h.now, Rand: h.random, Budget: table.Budget{Bytes: h.pageBytes, ScanBytes: c.scannedBytes},
		}),
		Accounts:    c.accounts.Find,
		Now:         h.now,
		NewID:       protocol.RandomID(h.random),
		WithTimeout: withTimeout(h.now),
		MaxSkew:     c.maxSkew,
		SettingsAge: c.settingsAge,
		PathStyle:   c.pathStyle,
		Extensions:  c.extensions,
		PagedFeeds:  true,
		KeptBuffer:  h.keptBuffer,
		Limits: protocol.Limits{
			Account: h.limiter(c, accountLimit), Partition: h.limiter(c, partitionLimit), Failures: h.limiter(c, failureLimit),
		},
	}}
	if h.known != nil {
		s.SettingsMemory = settingsOf(h.known)
	}
	return s
}

// refusals are the responses to requests that the JavaScript shell refuses, by the shell's reason.
var refusals = map[string]*table.Error{
	"busy":   table.ServerBusy.With("The Worker has too many requests. Try again."),
	"failed": table.InternalError.Err(),
	// An instance ended before it answered a write that the JavaScript shell had sent to it.
	"unknown": table.OperationTimedOut.Err(),
}

// appendAnswer appends the response to a request: the length of the head, the head as in [appendHead], and the body.
func (s *server) appendAnswer(dst, request []byte) []byte {
	start := len(dst)
	dst, body := s.respond(append(dst, 0, 0, 0, 0), request)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	if n := len(dst) + len(body); n > cap(dst) {
		dst = append(make([]byte, 0, pieceSize(n)), dst...)
	}
	dst = append(dst, body...)
	s.release()
	return dst
}

// respond serves a request. It appends the head of the response to dst, and returns the result and the body. The body
// is valid until release is called.
func (s *server) respond(dst, request []byte) (head, body []byte) {
	begin := s.host.now()
	if err := s.in.read(request); err != nil {
		s.in.Request = protocol.Request{Header: fields(nil), Method: "GET", Target: "/", Scheme: "https"}
		s.resp = s.Refuse(&s.in.Request, table.InternalError.Err())
		s.resp.Err = err
	} else if refusal, ok := refusals[s.in.refusal]; ok {
		s.resp = s.Refuse(&s.in.Request, refusal)
	} else {
		s.resp = s.Serve(context.Background(), &s.in.Request)
	}
	dst = appendHead(dst, &s.resp)
	var level int
	s.resp.Received, s.resp.Sent, s.resp.Duration = len(s.in.body.b), len(s.resp.Body), time.Duration(s.host.now()-begin)*100
	s.line, level = appendRecord(s.line[:0], &s.resp)
	s.host.log(level, s.line)
	return dst, s.resp.Body
}

// release releases the memory of the last response.
func (s *server) release() {
	s.resp.Release()
	s.resp = protocol.Response{}
}
