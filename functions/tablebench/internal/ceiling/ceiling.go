// Package ceiling serves the least that a signed table request can cost on net/http, as the number a real server is
// divided by: one HMAC is verified and, by kind, nothing is stored, one kilobyte is written durably, one kilobyte is
// read, or a page that lies ready in memory is sent. There is no routing, no parsing, no ETag and no isolation.
package ceiling

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/functions/tablebench/internal/load"
	"edgetable/functions/tablebench/internal/wire"
)

// Kind says what a handler does after the signature.
type Kind string

// The kinds of ceiling.
const (
	Null  Kind = "null"  // answers 204
	Write Kind = "write" // stores the body under a new key with one synced Pebble write, answers 204
	Read  Kind = "read"  // answers 200 with the kilobyte found by one Pebble point get under the request's path
	Page  Kind = "page"  // answers 200 with one and the same page of a thousand entities, without any store
)

// Kinds lists them.
var Kinds = []Kind{Null, Write, Read, Page}

// Handler is an http.Handler for one kind. Make one with New, close it when its server has stopped.
type Handler struct {
	kind    Kind
	account string
	db      *pebble.DB
	page    []byte
	seq     atomic.Uint64
	scratch sync.Pool // *scratch
}

// scratch is what a request needs; pooled, so that a ceiling does not allocate.
type scratch struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
	sig  [sha256.Size + 1]byte
	body []byte
}

// New opens a handler. Write and Read keep their data in dir; Read stores the layout's entities there first, under the
// paths that the load generator asks for in the named table.
func New(kind Kind, dir, account, key, table string, l load.Layout) (*Handler, error) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, fmt.Errorf("the account key is not base64")
	}
	h := &Handler{kind: kind, account: account}
	h.scratch.New = func() any {
		return &scratch{mac: hmac.New(sha256.New, secret), body: make([]byte, 0, 2*load.EntitySize)}
	}
	switch kind {
	case Null:
		return h, nil
	case Page:
		h.page = load.Layout{RowsPerPartition: pageRows}.AppendPage(nil, 0, pageRows)
		return h, nil
	case Write, Read:
	default:
		return nil, fmt.Errorf("unknown ceiling %q", kind)
	}
	cache := pebble.NewCache(64 << 20)
	defer cache.Unref() // the database holds its own reference
	h.db, err = pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: 64 << 20, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	if kind == Read {
		if err := h.seed("/"+account+"/"+table, l); err != nil {
			return nil, fmt.Errorf("storing the entities to read: %w", err)
		}
	}
	return h, nil
}

// pageRows is the most entities a page may hold.
const pageRows = 1000

// quiet keeps Pebble's information to itself; its fatal errors still end the process.
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

// ServeHTTP verifies the signature and does its kind's work.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.scratch.Get().(*scratch)
	defer h.scratch.Put(s)
	if !h.verify(s, r) {
		http.Error(w, "AuthenticationFailed", http.StatusForbidden)
		return
	}
	switch h.kind {
	case Read:
		h.read(w, r)
	case Page:
		w.Header()["Content-Type"] = contentType
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(h.page))}
		w.Write(h.page) // a client that went away cannot be told
	default:
		h.write(s, w, r)
	}
}

// verify checks SharedKeyLite over the request line's path.
func (h *Handler) verify(s *scratch, r *http.Request) bool {
	name, signature, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "SharedKeyLite "), ":")
	if !ok || name != h.account || len(signature) != base64.StdEncoding.EncodedLen(sha256.Size) {
		return false
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	s.text = append(s.text[:0], r.Header.Get("X-Ms-Date")...)
	s.text = append(s.text, "\n/"...)
	s.text = append(s.text, name...)
	s.text = append(s.text, path...)
	s.mac.Reset()
	s.mac.Write(s.text)
	n, err := base64.StdEncoding.Decode(s.sig[:], []byte(signature))
	return err == nil && hmac.Equal(s.mac.Sum(s.sum[:0]), s.sig[:n])
}

// write serves Null and Write: both read the body, one of them stores it.
func (h *Handler) write(s *scratch, w http.ResponseWriter, r *http.Request) {
	buf := bytes.NewBuffer(s.body[:0])
	if _, err := buf.ReadFrom(io.LimitReader(r.Body, 4<<20)); err != nil {
		http.Error(w, "reading the body failed", http.StatusBadRequest)
		return
	}
	s.body = buf.Bytes()
	if h.kind == Write {
		// A new key somewhere among many, as inserts into many partitions make them.
		var key [16]byte
		n := h.seq.Add(1)
		binary.BigEndian.PutUint64(key[:], n%1000)
		binary.BigEndian.PutUint64(key[8:], n)
		if err := h.db.Set(key[:], s.body, pebble.Sync); err != nil {
			http.Error(w, "the write failed", http.StatusInternalServerError)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) read(w http.ResponseWriter, r *http.Request) {
	value, closer, err := h.db.Get([]byte(r.RequestURI))
	if err != nil {
		http.Error(w, "no such entity", http.StatusNotFound)
		return
	}
	defer closer.Close()
	w.Header()["Content-Type"] = contentType
	w.Write(value) // a client that went away cannot be told
}

var contentType = []string{"application/json"}

// Account and key that the ceilings accept unless told otherwise.
const (
	Account = wire.EmulatorAccount
	Key     = wire.EmulatorKey
)
