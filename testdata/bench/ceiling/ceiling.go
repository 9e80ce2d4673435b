// Package ceiling is a reference server that does as little work as possible for a signed table request, over the real
// server's transport. Benchmarks divide the rates of real servers by its rate. It verifies one HMAC and then, depending
// on the kind, stores nothing, writes one kilobyte durably, reads one kilobyte, or sends a prepared page from memory.
// It has no routing, parsing, ETags or isolation.
package ceiling

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/load"
)

// Kind says what a ceiling server does after it has verified the signature.
type Kind string

// The kinds of ceiling servers, which do only a minimum of work for a request.
const (
	Null  Kind = "null"  // answers 204, and does nothing else
	Write Kind = "write" // stores the body under a new key with one synced Pebble write, and answers 204
	Read  Kind = "read"  // answers 200 with one kilobyte, which one Pebble get finds under the request's path
	Page  Kind = "page"  // answers 200, always with the same page of a thousand entities from memory
)

// Kinds lists all kinds of ceiling servers.
var Kinds = []Kind{Null, Write, Read, Page}

// Handler implements httpserver.Protocol for one kind of ceiling server. Create a Handler with New, and close it when
// the server has stopped.
type Handler struct {
	kind    Kind
	account *sharedkey.Account
	db      *pebble.DB
	page    []byte
	seq     atomic.Uint64
	bodies  sync.Pool // contains buffers of the type *[]byte
}

// New creates a handler for one kind of ceiling server. A handler of the kind Write or Read keeps its data in the
// directory dir. For the kind Read, New first stores the entities of the layout there. The load generator requests them
// from the given table.
func New(kind Kind, dir string, account *sharedkey.Account, table string, l load.Layout) (*Handler, error) {
	h := &Handler{kind: kind, account: account}
	h.bodies.New = func() any { b := make([]byte, 0, 2*load.EntitySize); return &b }
	switch kind {
	case Null:
		return h, nil
	case Page:
		h.page = page()
		return h, nil
	case Write, Read:
	default:
		return nil, fmt.Errorf("unknown ceiling %q", kind)
	}
	cache := pebble.NewCache(64 << 20)
	defer cache.Unref() // safe, because the open database keeps its own reference to the cache
	var err error
	h.db, err = pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: 64 << 20, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	if kind == Read {
		if err := h.seed("/"+account.Name+"/"+table, l); err != nil {
			return nil, fmt.Errorf("storing the entities to read: %w", err)
		}
	}
	return h, nil
}

// pageRows is the maximum number of entities in a page.
const pageRows = 1000

// page returns the response to a query with pageRows entities.
func page() []byte {
	layout, b := load.Layout{RowsPerPartition: pageRows}, []byte(`{"value":[`)
	for i := range pageRows {
		if i > 0 {
			b = append(b, ',')
		}
		b = layout.AppendEntity(b, i)
	}
	return append(b, "]}"...)
}

// quiet is a logger that suppresses Pebble's messages. A fatal error of Pebble still ends the process.
type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

func (h *Handler) seed(tableURL string, l load.Layout) error {
	var path, value []byte
	for i := range l.Entities {
		path = l.AppendPath(path[:0], tableURL, i)
		value = l.AppendEntity(value[:0], i)
		if err := h.db.Set(path, value, pebble.NoSync); err != nil {
			return err
		}
	}
	return h.db.Flush()
}

// Close closes the database.
func (h *Handler) Close() error {
	if h.db == nil {
		return nil
	}
	return h.db.Close()
}

// Listen serves until ctx ends.
func (h *Handler) Listen(ctx context.Context, l net.Listener) error {
	s := httpserver.Server{Handler: &httpserver.Handler{Protocol: h}, Log: slog.New(slog.DiscardHandler), Grace: time.Second}
	return s.Serve(ctx, l)
}

// Serve verifies the signature, and then does the least work for an operation of the handler's kind, for example one
// write to Pebble.
func (h *Handler) Serve(_ context.Context, r *protocol.Request) protocol.Response {
	path, query, _ := strings.Cut(r.Target, "?")
	cred, err := sharedkey.ParseAuthorization(r.Header.Get("Authorization"))
	if err == nil {
		err = h.account.Verify(cred, sharedkey.Request{
			Method: r.Method, Path: path, RawQuery: query, XMSDate: r.Header.Get("X-Ms-Date"),
		}, time.Time{}, 0)
	}
	switch {
	case err != nil:
		return protocol.Response{Status: 403}
	case h.kind == Read:
		return h.read(path)
	case h.kind == Page:
		return protocol.Response{Status: 200, Header: jsonBody, Body: h.page}
	}
	return h.write(r)
}

// write serves requests of the ceiling servers of the kinds Null and Write. It reads the body of a request. It
// stores the body only for the kind Write.
func (h *Handler) write(r *protocol.Request) protocol.Response {
	body := h.bodies.Get().(*[]byte)
	defer h.bodies.Put(body)
	if r.Body != nil {
		if int(r.ContentLength) > cap(*body) {
			*body = make([]byte, 0, min(r.ContentLength, protocol.MaxBody))
		}
		*body = (*body)[:max(0, min(int(r.ContentLength), cap(*body)))]
		if _, err := io.ReadFull(r.Body, *body); err != nil {
			return protocol.Response{Status: 400}
		}
	}
	if h.kind == Write {
		// Use a new key, with one of a thousand prefixes in turn. So the writes are as spread out as inserts into a thousand
		// partitions.
		var key [16]byte
		n := h.seq.Add(1)
		binary.BigEndian.PutUint64(key[:], n%1000)
		binary.BigEndian.PutUint64(key[8:], n)
		if err := h.db.Set(key[:], *body, pebble.Sync); err != nil {
			return protocol.Response{Status: 500}
		}
	}
	return protocol.Response{Status: 204}
}

func (h *Handler) read(path string) protocol.Response {
	value, closer, err := h.db.Get([]byte(path))
	if err != nil {
		return protocol.Response{Status: 404}
	}
	defer closer.Close()
	return protocol.Response{Status: 200, Header: jsonBody, Body: append([]byte(nil), value...)}
}

var jsonBody = []protocol.Field{{Name: "Content-Type", Value: "application/json"}}
