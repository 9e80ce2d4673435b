package protocol_test

import (
	"context"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// delayed is a store that calls a function after it has read the settings of an
// account and before it returns them.
type delayed struct {
	table.Store
	meanwhile func()
}

func (s *delayed) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	d, err := s.Store.ReadRecord(ctx, key, c)
	if f := s.meanwhile; f != nil && key.Table == "" {
		s.meanwhile = nil
		f()
	}
	return d, err
}

// newSharingServer returns another server over the same store, with its own clock.
func newSharingServer(t *testing.T, store table.Store, clock *wiretest.Clock) *server {
	t.Helper()
	k, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: wiretest.Account, Keys: [2]*sharedkey.Key{k}}}
	return &server{key: k, Handler: &protocol.Handler{
		Service:  table.New(store, table.Options{Now: clock.Now, Rand: func() uint64 { return 1 }}),
		Accounts: func(name string) (*protocol.Account, bool) { return account, name == account.Name },
		Now:      clock.Now,
		NewID:    func() (id [16]byte) { return id },
	}}
}

// admit sets CORS rules that permit GET requests from scripts of this origin, and of no other origin.
func (s *server) admit(t *testing.T, origin string) {
	t.Helper()
	s.do(t, "PUT", "/?restype=service&comp=properties", "", []byte("<StorageServiceProperties><Cors><CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>"+origin+
		"</AllowedOrigins><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>"))
}

// allowedOrigin returns the origin that may read, according to the CORS headers of the responses.
func (s *server) allowedOrigin(t *testing.T) string {
	t.Helper()
	for _, origin := range []string{"https://old", "https://new"} {
		req := s.request("GET", "/Tables", "", nil)
		req.Header.(protocol.Header)["Origin"] = []string{origin}
		resp := s.Serve(t.Context(), req)
		allowed := field(&resp, "Access-Control-Allow-Origin")
		resp.Release()
		if allowed != "" {
			return allowed
		}
	}
	return ""
}

// TestSettingsAge checks that this server applies settings that another server stored, as soon as its cached
// settings are too old. This must hold even after the clock stepped back.
func TestSettingsAge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why  string
		age  time.Duration
		step time.Duration
		want string
	}{
		{"within half a minute", 0, 29 * time.Second, "https://old"},
		{"after half a minute", 0, 30 * time.Second, "https://new"},
		{"after the clock stepped back", 0, -time.Hour, "https://new"},
		{"just before the end of another age", time.Minute, time.Minute - 1, "https://old"},
		{"at the end of another age", time.Minute, time.Minute, "https://new"},
		{"read with each request", -1, 0, "https://new"},
	} {
		var clock, elsewhere wiretest.Clock
		store := memstore.New(func() edm.Ticks { return elsewhere.Now() })
		here, there := newSharingServer(t, store, &clock), newSharingServer(t, store, &elsewhere)
		here.SettingsAge = tt.age
		there.admit(t, "https://old")
		if got := here.allowedOrigin(t); got != "https://old" {
			t.Fatalf("%s: the first origin is %q", tt.why, got)
		}
		there.admit(t, "https://new")
		clock.Set(wiretest.Start.Add(tt.step))
		if got := here.allowedOrigin(t); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestSettingsCountAtOnce checks settings that the server itself has stored. The server must apply them at once,
// even if another request reads the old settings at the same time.
func TestSettingsCountAtOnce(t *testing.T) {
	t.Parallel()
	for why, read := range map[string]func(s *server){
		"by a script":  func(s *server) { s.allowedOrigin(t) },
		"by its owner": func(s *server) { s.do(t, "GET", "/?restype=service&comp=properties", "", nil) },
		"by a preflight": func(s *server) {
			req := s.request("OPTIONS", "/", "", nil)
			req.Header = protocol.Header{"Origin": {"https://old"}, "Access-Control-Request-Method": {"GET"}}
			resp := s.Serve(t.Context(), req)
			resp.Release()
		},
	} {
		var clock wiretest.Clock
		store := &delayed{Store: memstore.New(clock.Now)}
		s := newSharingServer(t, store, &clock)
		newSharingServer(t, store, &clock).admit(t, "https://old")
		store.meanwhile = func() { s.admit(t, "https://new") }
		read(s)
		if got := s.allowedOrigin(t); got != "https://new" {
			t.Errorf("read %s: got the origin %q", why, got)
		}
	}
}

// remembered implements SettingsMemory, a cache of account settings, with a map.
type remembered map[string]struct {
	stored []byte
	at     edm.Ticks
}

func (m remembered) Recall(account string) ([]byte, edm.Ticks, bool) {
	r, ok := m[account]
	return r.stored, r.at, ok
}

func (m remembered) Keep(account string, stored []byte, at edm.Ticks) {
	r := m[account]
	r.stored, r.at = stored, at
	m[account] = r
}

func (m remembered) Forget(account string, _ edm.Ticks) { delete(m, account) }

// TestSettingsTogether checks two rules for handlers that share a SettingsMemory. Together they read the settings of
// an account from the store once. After one handler has changed the settings, the other handlers use the new ones.
func TestSettingsTogether(t *testing.T) {
	t.Parallel()
	var clock wiretest.Clock
	store := &counted{Store: memstore.New(clock.Now)}
	here, there := newSharingServer(t, store, &clock), newSharingServer(t, store, &clock)
	here.SettingsMemory = remembered{}
	there.SettingsMemory = here.SettingsMemory
	here.admit(t, "https://old")
	here.allowedOrigin(t)
	reads := store.reads
	if got := there.allowedOrigin(t); got != "https://old" || store.reads != reads {
		t.Errorf("got %q after %d reads", got, store.reads-reads)
	}
	here.admit(t, "https://new")
	next := newSharingServer(t, store, &clock)
	next.SettingsMemory = here.SettingsMemory
	if got := next.allowedOrigin(t); got != "https://new" {
		t.Errorf("after the change: %q", got)
	}
}

// counted is a store that counts reads of records.
type counted struct {
	table.Store
	reads int
}

func (s *counted) ReadRecord(ctx context.Context, k table.RecordKey, c table.Consistency) (table.Record, error) {
	s.reads++
	return s.Store.ReadRecord(ctx, k, c)
}
