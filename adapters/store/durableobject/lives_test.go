package durableobject_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

func opOf(call durableobject.Call) message.Op {
	op, _, _ := message.Open(call.Message)
	return op
}

// dropless loses the drop messages to buckets.
func dropless(call durableobject.Call) fate {
	if opOf(call) == message.OpDrop {
		return fate{lose: true, err: durableobject.ErrLost}
	}
	return fate{}
}

// TestDropCutOff interrupts a deletion after each of its steps: the catalog
// restarts, and its caller is gone. The next message or the alarm resumes the
// deletion: a table once reported as gone stays gone, its name becomes free, and
// Timestamps continue above those of the old incarnation.
func TestDropCutOff(t *testing.T) {
	t.Parallel()
	const buckets = 3
	for step := range 2*buckets + 3 {
		for _, next := range []string{"alarm", "read", "create", "drop", "write"} {
			t.Run(fmt.Sprintf("%d/%s", step, next), func(t *testing.T) {
				t.Parallel()
				k := newClock()
				c := newCloud(t, k.now)
				s := c.store(k.now, func(o *durableobject.Options) { o.Buckets = buckets; o.Attempts = 1 })
				revision := create(t, s, 1)
				last, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "old life")})
				if err != nil {
					t.Fatal(err)
				}
				// Calls of objects are handled one by one until the step; then the
				// catalog and its caller end.
				n := 0
				cut := func() bool { n++; return n > step }
				c.inside = func(durableobject.Call) fate {
					if cut() {
						return fate{lose: true, err: durableobject.ErrLost}
					}
					return fate{}
				}
				c.between = func(*node, []durableobject.Call) bool {
					if n >= step {
						c.evict()
						return true
					}
					return false
				}
				err = s.Drop(t.Context(), tableKey, revision)
				if err != nil && !errors.Is(err, table.ErrUnknown) {
					t.Fatalf("Drop: %v", err)
				}
				c.inside, c.between = nil, nil
				k.pass(time.Minute)
				switch next {
				case "alarm":
					if rang := c.ring(k.t); rang == 0 && err != nil {
						t.Error("no alarm is set")
					}
					c.quiet()
					if _, err := s.Get(t.Context(), tableKey, at("p", "r"), table.Strong); !errors.Is(err, table.ErrNoTable) {
						t.Errorf("Get after the alarm: %v", err)
					}
				case "read":
					if _, err := s.ReadRecord(t.Context(), tableKey); !errors.Is(err, table.ErrNoRecord) {
						t.Errorf("ReadRecord: got %v, want %v", err, table.ErrNoRecord)
					}
				case "drop":
					if err := s.Drop(t.Context(), tableKey, revision); !errors.Is(err, table.ErrRevision) {
						t.Errorf("another Drop: got %v, want %v", err, table.ErrRevision)
					}
				case "write":
					d := table.Record{Key: tableKey, Revision: revision, Incarnation: table.Incarnation{11: 1}}
					if _, err := s.WriteRecord(t.Context(), d); !errors.Is(err, table.ErrRevision) {
						t.Errorf("WriteRecord: got %v, want %v", err, table.ErrRevision)
					}
				}
				if next != "create" { // a create would find the table being deleted
					if got := text(s, "r"); got != table.ErrNoTable.Error() {
						t.Errorf("the entity is %q", got)
					}
				}
				k.pass(-time.Hour) // Timestamps increase only because of stored state
				c.evict()
				create(t, s, 2)
				if got := text(s, "r"); got != table.ErrNoEntity.Error() {
					t.Errorf("in the next incarnation the entity is %q", got)
				}
				ticks, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "new life")})
				if err != nil || ticks <= last {
					t.Errorf("Timestamp %d (%v) is not above %d of the old incarnation", ticks, err, last)
				}
				if c.ring(k.t + 1e12); text(s, "r") != "new life" {
					t.Errorf("an old alarm: the entity is %q", text(s, "r"))
				}
			})
		}
	}
}

// TestDropUnreachable checks that a table with an unreachable bucket neither
// exists nor is gone.
func TestDropUnreachable(t *testing.T) {
	t.Parallel()
	k := newClock()
	c := newCloud(t, k.now)
	s := c.store(k.now, nil)
	revision := create(t, s, 1)
	if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "A")}); err != nil {
		t.Fatal(err)
	}
	drops := 0
	c.inside = func(call durableobject.Call) fate {
		if opOf(call) == message.OpDrop {
			drops++
		}
		return dropless(call)
	}
	if err := s.Drop(t.Context(), tableKey, revision); !errors.Is(err, table.ErrUnknown) || drops != 3 {
		t.Errorf("Drop: %v after %d calls of the bucket, want %v after 3", err, drops, table.ErrUnknown)
	}
	if _, err := s.ReadRecord(t.Context(), tableKey); !errors.Is(err, table.ErrBusy) {
		t.Errorf("ReadRecord: got %v, want %v", err, table.ErrBusy)
	}
	d := table.Record{Key: tableKey, Incarnation: table.Incarnation{11: 2}}
	if _, err := s.WriteRecord(t.Context(), d); !errors.Is(err, table.ErrBeingDeleted) {
		t.Errorf("WriteRecord: got %v, want %v", err, table.ErrBeingDeleted)
	}
	if list, err := s.ListRecords(t.Context(), "table/acct/", "", 10); err != nil || len(list) != 0 {
		t.Errorf("ListRecords: %d documents, %v", len(list), err)
	}
	k.pass(time.Minute)
	if c.ring(k.t) != 1 || c.ring(k.t) != 0 {
		t.Error("the alarm is set to a later time while work is left")
	}
	c.inside = nil
	k.pass(time.Minute)
	if c.ring(k.t); text(s, "r") != table.ErrNoTable.Error() {
		t.Errorf("after the alarm the entity is %q", text(s, "r"))
	}
	c.quiet()
	create(t, s, 3)
}

// quiet checks that alarms end; an alarm that was set as a precaution may ring
// once more.
func (c *cloud) quiet() {
	c.t.Helper()
	const later = 1 << 50
	if c.ring(c.now() + later); c.ring(c.now()+2*later) != 0 {
		c.t.Error("the alarm rings although no work is left")
	}
}

// TestLateAnswer checks that an answer of the catalog from before a drop is
// ignored: by an engine that knows of the drop or of the deletion in progress, and
// by a later engine.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"the drop is known", "the table was seen dead", "the memory is another"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := newClock()
			c := newCloud(t, k.now)
			s := c.store(k.now, nil)
			revision := create(t, s, 1)
			late := false
			// The catalog has answered, and its answer is on its way back.
			c.inside = func(call durableobject.Call) fate {
				if opOf(call) != message.OpLocate || late {
					return fate{}
				}
				late = true
				c.late = func() {
					switch what {
					case "the table was seen dead":
						// The drop of the table is lost: it is still being
						// deleted.
						inside := c.inside
						c.inside = dropless
						if err := s.Drop(t.Context(), tableKey, revision); !errors.Is(err, table.ErrUnknown) {
							t.Error(err)
						}
						c.inside = func(call durableobject.Call) (f fate) {
							if opOf(call) != message.OpLocate {
								t.Error("a bucket asks the catalog more often than necessary")
							}
							return f
						}
						if got := text(s, "r"); got != table.ErrNoTable.Error() {
							t.Errorf("the entity is %q", got)
						}
						c.inside = inside
					case "the memory is another":
						defer c.evict()
						fallthrough
					default:
						if err := s.Drop(t.Context(), tableKey, revision); err != nil {
							t.Error(err)
						}
					}
				}
				return fate{}
			}
			_, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "ghost")})
			if !errors.Is(err, table.ErrNoTable) {
				t.Errorf("Commit: got %v, want %v", err, table.ErrNoTable)
			}
			if got := text(s, "r"); got != table.ErrNoTable.Error() {
				t.Errorf("the entity is %q", got)
			}
			create(t, s, 2)
			if got := text(s, "r"); got != table.ErrNoEntity.Error() {
				t.Errorf("in the next incarnation the entity is %q", got)
			}
		})
	}
}

// TestDropped looks at a bucket that has dropped while the catalog does not
// know it yet.
func TestDropped(t *testing.T) {
	t.Parallel()
	c := newCloud(t, newClock().now)
	s := c.store(c.now, nil)
	revision := create(t, s, 1)
	if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "A")}); err != nil {
		t.Fatal(err)
	}
	windows := 0
	c.inside = func(call durableobject.Call) fate {
		if opOf(call) == message.OpDrop {
			c.late = func() {
				windows++
				if got := text(s, "r"); got != table.ErrNoTable.Error() {
					t.Errorf("between the drop and the end the entity is %q", got)
				}
			}
		}
		return fate{}
	}
	if err := s.Drop(t.Context(), tableKey, revision); err != nil || windows == 0 {
		t.Fatalf("Drop: %v, %d windows", err, windows)
	}
	if got := text(s, "r"); got != table.ErrNoTable.Error() {
		t.Errorf("after Drop the entity is %q", got)
	}
}

// TestDeletingElsewhere checks that a Worker that expects a table in another
// place does not see it gone earlier than Workers that know its place.
func TestDeletingElsewhere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, newClock().now)
	s := c.store(c.now, func(o *durableobject.Options) { o.Location = "weur" })
	revision := create(t, s, 1)
	if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "A")}); err != nil {
		t.Fatal(err)
	}
	c.inside = dropless
	if err := s.Drop(t.Context(), tableKey, revision); !errors.Is(err, table.ErrUnknown) {
		t.Fatal(err)
	}
	for i := range 2 {
		if got := text(c.store(c.now, nil), "r"); got != "A" {
			t.Errorf("while the bucket lives the entity is %q elsewhere", got)
		}
		if got := text(s, "r"); got != "A" {
			t.Errorf("while the bucket lives the entity is %q to look %d", got, i)
		}
	}
	c.inside = nil
	c.ring(c.now() + 1e12)
	if got := text(c.store(c.now, nil), "r"); got != table.ErrNoTable.Error() {
		t.Errorf("after the alarm the entity is %q", got)
	}
}

// TestMoved creates a table again in another place with other buckets, for each
// kind of move: a Worker that knows the old place needs one more message to find
// the new one.
func TestMoved(t *testing.T) {
	t.Parallel()
	k := newClock()
	c := newCloud(t, k.now)
	stale := c.store(k.now, nil)
	calls := 0
	c.network = func(durableobject.Call) fate { calls++; return fate{} }
	var last edm.Ticks
	for life, home := range []message.Home{
		{}, {Buckets: 4}, {Buckets: 4, Location: "eu"}, {Buckets: 1, Location: "weur"}, {Location: "eu/weur"}, {Buckets: 2}, {},
	} {
		s := c.store(k.now, func(o *durableobject.Options) { o.Buckets, o.Location = home.Buckets, home.Location })
		d := table.Record{Key: tableKey, Incarnation: table.Incarnation{byte(life) + 1}}
		r, err := s.WriteRecord(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{1, 0} {
			if life == 0 {
				want = 0
			}
			calls = 0
			m := []table.Mutation{insert(fmt.Sprint("r", i), "A")}
			ticks, err := stale.Commit(t.Context(), tableKey, m)
			if err != nil || ticks <= last || calls != 1+want {
				t.Errorf("%+v: Timestamp %d after %d, %v, %d messages, want %d", home, ticks, last, err, calls, 1+want)
			}
			last = ticks
		}
		page, err := s.Scan(t.Context(), tableKey, everything)
		if err != nil || len(page.Rows) != 2 {
			t.Errorf("%+v: Scan: %d rows, %v", home, len(page.Rows), err)
		}
		if got, err := stale.ReadRecord(t.Context(), tableKey); err != nil || got.Incarnation != d.Incarnation {
			t.Errorf("%+v: ReadRecord: %x, %v", home, got.Incarnation, err)
		}
		if err := s.Drop(t.Context(), tableKey, r); err != nil {
			t.Fatal(err)
		}
	}
	// Only the catalog still has something of the old tables.
	for _, n := range c.all() {
		if len(n.rows.Rows) > 0 && !strings.HasPrefix(n.id.Name, "catalog/") {
			t.Errorf("%v still has %d rows", n.id, len(n.rows.Rows))
		}
	}
}

// TestNames checks that the first caller creates an object at the location of
// its table.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		location string
		want     durableobject.Address
	}{
		{"", durableobject.Address{Name: "bucket/table/acct/people/4/3"}},
		{"eu", durableobject.Address{Name: "bucket/table/acct/people/4/3", Jurisdiction: "eu"}},
		{"weur", durableobject.Address{Name: "bucket/table/acct/people/4/3@weur", Hint: "weur"}},
		{"eu/weur", durableobject.Address{Name: "bucket/table/acct/people/4/3@weur", Jurisdiction: "eu", Hint: "weur"}},
		{"moon/", durableobject.Address{Name: "bucket/table/acct/people/4/3", Jurisdiction: "moon"}},
	} {
		if got := durableobject.Bucket(tableText, 4, 3, row.location); got != row.want {
			t.Errorf("Bucket at %q: got %+v, want %+v", row.location, got, row.want)
		}
	}
	for key, want := range map[string]string{
		"table/acct/people": "catalog/acct", "settings/acct": "catalog/acct", "table/acct": "catalog/acct",
		"other/acct/x": "catalog/", "x": "catalog/",
	} {
		if got := durableobject.CatalogOf(key, "eu"); got != (durableobject.Address{Name: want, Jurisdiction: "eu"}) {
			t.Errorf("CatalogOf(%s): got %+v, want %s in eu", key, got, want)
		}
	}
}

// TestCatalogUnreachable checks that a bucket that cannot reach the catalog
// asks again, and then answers that it is busy.
func TestCatalogUnreachable(t *testing.T) {
	t.Parallel()
	for lost, want := range map[int]error{2: table.ErrNoEntity, 3: table.ErrBusy} {
		c := newCloud(t, newClock().now)
		s := c.store(c.now, nil)
		create(t, s, 1)
		n := 0
		c.inside = func(durableobject.Call) fate {
			if n++; n <= lost {
				return fate{lose: true, err: durableobject.ErrLost}
			}
			return fate{}
		}
		if got := text(s, "r"); got != want.Error() {
			t.Errorf("after %d answers were lost: got %s, want %v", lost, got, want)
		}
	}
}
