package workerskv_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
)

// timeline connects the clocks of the stores with the time of the cloud. The clock of a store may stand still or go
// back. The time of the cloud advances by the same steps, but never goes back.
type timeline struct {
	mu   sync.Mutex
	skew edm.Ticks
}

// view is the clock of one isolate.
type view struct {
	*timeline
	base func() edm.Ticks
	last edm.Ticks
	real *edm.Ticks
}

func (v *view) now() edm.Ticks {
	v.mu.Lock()
	defer v.mu.Unlock()
	base := v.base()
	if d := base - v.last; v.last != 0 && d > 0 {
		*v.real += d
	}
	v.last = base
	return base + v.skew
}

// version is the content of a name since one write, and the location that wrote it.
type version struct {
	at              edm.Ticks
	by              *location
	value, metadata []byte
	gone            bool
}

// cloud simulates the worst permitted behavior of Workers KV: each read of each name may return a
// state that is up to a minute old, pages may be short or empty although more names follow, cursors
// may be refused, and a name accepts one write per second.
type cloud struct {
	mu       sync.Mutex
	time     edm.Ticks
	rnd      *rand.Rand
	names    []string // names in byte order
	versions map[string][]version
	cursors  map[string][2]string // the prefix and the next name of each cursor
	stale    bool                 // whether a read may return an old version
	cursed   bool                 // whether cursors are sometimes refused and pages sometimes short
	unpaced  bool                 // whether a name accepts any number of writes per second
	inOrder  bool                 // whether all writes are carried out, in order
	calls    int                  // number of calls of Write
	writes   int
	lists    int
	gets     int

	takes func() // called for each group of concurrent writes, to take time; may be nil
	blind error  // if not nil, the error of every read

	// fault is called before each write and returns its error. If applied is true, the write is applied in
	// spite of the error.
	fault func(name string) (err error, applied bool)
}

const staleness = 60 * edm.TicksPerSecond

func newCloud(seed uint64) *cloud {
	return &cloud{
		time: 1000 * edm.TicksPerSecond, rnd: rand.New(rand.NewPCG(seed, 7)), versions: make(map[string][]version),
		cursors: make(map[string][2]string), stale: true, cursed: true,
	}
}

func (c *cloud) lock() {
	for range 4 {
		runtime.Gosched() // lets other goroutines make their calls first
	}
	c.mu.Lock()
}

// location is a Namespace at one location of the cloud. It returns its own writes at once, as KV usually does. The
// cloud itself is a Namespace that reads at a random location.
type location struct{ *cloud }

func (l *location) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	return l.get(ctx, l, name)
}

func (l *location) Write(ctx context.Context, writes []workerskv.Write) []error {
	return l.write(ctx, l, writes)
}

func (l *location) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	return l.list(ctx, l, prefix, cursor, limit)
}

func (c *cloud) Get(ctx context.Context, name string) (value, metadata []byte, ok bool, err error) {
	return c.get(ctx, nil, name)
}

func (c *cloud) Write(ctx context.Context, writes []workerskv.Write) []error {
	return c.write(ctx, nil, writes)
}

func (c *cloud) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	return c.list(ctx, nil, prefix, cursor, limit)
}

// chooseVersion chooses at random one of the versions that a read at a location may return.
func (c *cloud) chooseVersion(l *location, name string) version {
	list := c.versions[name]
	now := c.time
	if c.stale {
		// Two of the four cases choose the oldest or the newest possible version.
		switch c.rnd.IntN(4) {
		case 0:
			now -= staleness
		case 1:
		default:
			now -= edm.Ticks(c.rnd.Int64N(int64(staleness)))
		}
	}
	for _, v := range slices.Backward(list) {
		if v.at <= now || l != nil && v.by == l {
			return v
		}
	}
	return version{gone: true}
}

var errLost = errors.New("connection lost")

func checkName(name string) {
	if len(name) == 0 || len(name) > 512 || name == "." || name == ".." || !utf8.ValidString(name) || strings.Contains(name, "\x00") {
		panic("KV accepts no such name: " + strconv.Quote(name))
	}
}

func (c *cloud) get(ctx context.Context, l *location, name string) (value, metadata []byte, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	checkName(name)
	c.lock()
	defer c.mu.Unlock()
	c.gets++
	v := c.chooseVersion(l, name)
	if v.gone || c.blind != nil {
		return nil, nil, false, c.blind
	}
	return slices.Clone(v.value), slices.Clone(v.metadata), true, nil
}

// connections is the maximum number of concurrent writes; further writes wait.
const connections = 6

// write carries out the writes in random order. After a failed write it may skip the remaining ones.
func (c *cloud) write(ctx context.Context, l *location, writes []workerskv.Write) []error {
	if len(writes) == 0 {
		panic("no writes")
	}
	c.mu.Lock()
	c.calls++
	order, quits := c.rnd.Perm(len(writes)), c.rnd.IntN(2) == 0
	if c.inOrder {
		order, quits = slices.Sorted(slices.Values(order)), false
	}
	c.mu.Unlock()
	outcomes := make([]error, len(writes))
	names := make(map[string]bool)
	failed := false
	for n, i := range order {
		w := &writes[i]
		if names[w.Name] {
			panic("a name occurs twice: " + strconv.Quote(w.Name))
		}
		names[w.Name] = true
		if n%connections == 0 && c.takes != nil {
			c.takes()
		}
		if failed && quits {
			outcomes[i] = workerskv.ErrRefused
			continue
		}
		outcomes[i] = c.writeOne(ctx, l, w)
		failed = failed || outcomes[i] != nil && !errors.Is(outcomes[i], workerskv.ErrRefused)
	}
	return outcomes
}

func (c *cloud) writeOne(ctx context.Context, l *location, w *workerskv.Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := w.Name
	checkName(name)
	if len(w.Value) > 25<<20 || len(w.Metadata) > 1022 {
		panic("larger than KV accepts")
	}
	for _, b := range w.Metadata {
		if b < 0x20 || b > 0x7e || b == '"' || b == '\\' {
			panic("metadata would not survive JSON")
		}
	}
	v := version{value: slices.Clone(w.Value), metadata: slices.Clone(w.Metadata), gone: w.Delete}
	c.lock()
	defer c.mu.Unlock()
	c.writes++
	var err error
	if c.fault != nil {
		var applied bool
		if err, applied = c.fault(name); err != nil && !applied {
			return err
		}
	}
	list := c.versions[name]
	if n := len(list); n > 0 && !c.unpaced && c.time-list[n-1].at < edm.TicksPerSecond {
		if err != nil {
			return err
		}
		return workerskv.ErrRefused
	}
	if list == nil {
		i, _ := slices.BinarySearch(c.names, name)
		c.names = slices.Insert(c.names, i, name)
	}
	for len(list) > 1 && list[1].at < c.time-staleness {
		list = list[1:]
	}
	v.at, v.by = c.time, l
	c.versions[name] = append(list, v)
	return err
}

func (c *cloud) list(ctx context.Context, l *location, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if len(prefix) > 512 || !utf8.ValidString(prefix) {
		panic("KV accepts no such prefix: " + strconv.Quote(prefix))
	}
	c.lock()
	defer c.mu.Unlock()
	c.lists++
	if c.blind != nil {
		return nil, "", c.blind
	}
	from := prefix
	if cursor != "" {
		at, ok := c.cursors[cursor]
		if ok && at[0] != prefix {
			panic("a cursor of another prefix")
		}
		if !ok || c.cursed && c.rnd.IntN(8) == 0 {
			return nil, "", workerskv.ErrCursor
		}
		from = max(from, at[1])
	}
	if c.cursed && limit > 1 && c.rnd.IntN(4) == 0 {
		limit = c.rnd.IntN(limit) // a page may be empty although more names follow
	}
	var keys []workerskv.Key
	i, _ := slices.BinarySearch(c.names, from)
	for ; i < len(c.names) && strings.HasPrefix(c.names[i], prefix); i++ {
		v := c.chooseVersion(l, c.names[i])
		if v.gone {
			continue
		}
		if len(keys) == limit {
			next := "cursor" + strconv.Itoa(len(c.cursors))
			c.cursors[next] = [2]string{prefix, c.names[i]}
			return keys, next, nil
		}
		keys = append(keys, workerskv.Key{Name: c.names[i], Metadata: slices.Clone(v.metadata)})
	}
	return keys, "", nil
}

// This method returns the number of names that exist and begin with a prefix.
func (c *cloud) left(prefix string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, list := range c.versions {
		if strings.HasPrefix(name, prefix) && !list[len(list)-1].gone {
			n++
		}
	}
	return n
}
