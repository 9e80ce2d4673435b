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

// New makes a store. It makes no calls.
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

// homes are the places where tables were last found.
type homes struct {
	guess message.Home // for other tables

	mu   sync.Mutex
	seen map[string]message.Home
}

// maxHomes bounds the map; to learn a place again costs one message.
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
	// A string of a message would keep all of its memory.
	home.Location = strings.Clone(home.Location)
	h.seen[strings.Clone(name)] = home
}
