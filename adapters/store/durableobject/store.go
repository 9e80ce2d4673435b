package durableobject

import (
	"strings"
	"sync"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// Store is a table.Store on Durable Objects. Use [New].
type Store struct {
	o     Options
	pause Pauser // nil if the Caller is none
	homes homes
}

var _ table.Store = (*Store)(nil)

// New makes a store. It calls nothing.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{o: o}
	s.pause, _ = o.Caller.(Pauser)
	s.homes.guess = message.Home{Buckets: o.Buckets, Location: o.Location}
	return s, nil
}

// homes remembers where tables were last seen.
type homes struct {
	guess message.Home // of tables that it does not know

	mu   sync.Mutex
	seen map[string]message.Home
}

// maxHomes bounds what is remembered; it costs one message more to learn it again.
const maxHomes = 1000

func (h *homes) get(name string) message.Home {
	h.mu.Lock()
	defer h.mu.Unlock()
	if home, ok := h.seen[name]; ok {
		return home
	}
	return h.guess
}

func (h *homes) put(name string, home message.Home) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if home == h.guess {
		delete(h.seen, name)
		return
	}
	if h.seen == nil || len(h.seen) >= maxHomes {
		h.seen = make(map[string]message.Home)
	}
	// A string out of a message would keep all of it.
	home.Location = strings.Clone(home.Location)
	h.seen[strings.Clone(name)] = home
}
