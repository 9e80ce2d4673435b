package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/load/wire"
)

// Op names a workload.
type Op string

// The workloads. Upsert is PUT without If-Match (insert or replace); merge is PATCH and delete is DELETE, both with
// If-Match: *. Query reads one whole partition, scan the whole table page by page; batch inserts entities in entity
// group transactions. Page asks for a short page that starts at a random partition. Mixed is get and upsert in equal
// parts.
const (
	Insert Op = "insert"
	Upsert Op = "upsert"
	Merge  Op = "merge"
	Delete Op = "delete"
	Get    Op = "get"
	Query  Op = "query"
	Scan   Op = "scan"
	Batch  Op = "batch"
	Page   Op = "page"
	Mixed  Op = "mixed"
)

// Ops lists every workload in the order reports use.
var Ops = []Op{Insert, Upsert, Merge, Delete, Get, Query, Scan, Batch, Page, Mixed}

// NeedsPreload tells whether op works on entities that Fill stored before.
func (op Op) NeedsPreload() bool { return op != Insert && op != Batch }

// Spec is one run. Layout describes what Fill stored, for the workloads that need it.
type Spec struct {
	Target      wire.Target
	Table       string
	Op          Op
	Format      Format // "" is JSON
	Layout      Layout
	Prefix      string // unique per run: new row keys start with it
	Connections int
	Warmup      time.Duration // run before, not counted
	Duration    time.Duration // counted; delete ends earlier when nothing is left
	Refused     Refused       // what to do when the server is busy
}

// Refused is what a client does that was answered 503.
type Refused string

const (
	freshPartitions = 1000 // partitions that inserts spread over
	pageRows        = 100  // $top of Page
)

// operation is one worker's stream of requests. next fills req and reports false when nothing is left to do; check
// judges the answer and returns how many entities it moved. Buffers belong to the worker and are reused.
type operation interface {
	next(req *wire.Request) bool
	check(resp *wire.Response) (entities int, err error)
}

// shared is what the workers of one run have in common.
type shared struct {
	spec Spec
	head headers
	seq  atomic.Uint64 // numbers fresh keys, and entities to delete
}

// expect describes an answer of the wrong status; bodies of table errors carry a code and no secrets.
func expect(resp *wire.Response, want int) error {
	if resp.Status == want {
		return nil
	}
	return fmt.Errorf("%w (%d was expected)", remote.ReadError(resp.Status, resp.Body), want)
}

// inserter posts entities that never existed before.
type inserter struct {
	*shared
	url      []byte
	pk, rk   []byte
	body     []byte
	sequence uint64
}

func (o *inserter) next(req *wire.Request) bool {
	o.sequence = o.seq.Add(1)
	o.pk, o.rk = o.freshKey(o.pk[:0], o.rk[:0], o.sequence%freshPartitions, o.sequence)
	o.body = o.spec.Format.appendEntity(o.body[:0], o.pk, o.rk, o.sequence)
	*req = wire.Request{Method: "POST", Path: o.url, Header: o.head.insert, Body: o.body}
	return true
}

func (o *inserter) check(resp *wire.Response) (int, error) { return 1, expect(resp, 204) }

// freshKey makes keys that no other run uses, given that the run's prefix is unique.
func (s *shared) freshKey(pk, rk []byte, partition, n uint64) ([]byte, []byte) {
	pk = appendDigits(append(pk, 'n'), partition, 6)
	rk = append(append(rk, s.spec.Prefix...), '-')
	return pk, appendDigits(rk, n, 10)
}

// pointer addresses one preloaded entity a request: get, upsert, merge, delete and mixed.
type pointer struct {
	*shared
	op   Op // of the request
	url  string
	rng  *rand.Rand
	path []byte
	body []byte
	rk   []byte
}

// stride visits every entity once when it has no factor in common with their number; a large prime never has. It
// also keeps neighbours in time apart in key order.
const stride = 1<<31 - 1

func (o *pointer) next(req *wire.Request) bool {
	n := o.spec.Layout.Entities
	i := o.rng.IntN(n)
	switch o.op = o.spec.Op; o.op {
	case Mixed:
		o.op = Get
		if o.rng.Uint32()&1 == 0 {
			o.op = Upsert
		}
	case Delete:
		k := o.seq.Add(1) - 1
		if k >= uint64(n) {
			return false
		}
		i = int(k * stride % uint64(n))
	}
	o.path = o.spec.Layout.AppendPath(o.path[:0], o.url, i)
	switch o.op {
	case Delete:
		*req = wire.Request{Method: "DELETE", Path: o.path, Header: o.head.delete}
		return true
	case Get:
		o.rk = o.spec.Layout.appendRK(o.rk[:0], i)
		*req = wire.Request{Method: "GET", Path: o.path, Header: o.head.accept}
		return true
	}
	o.body = o.spec.Layout.appendAs(o.spec.Format, o.body[:0], i)
	*req = wire.Request{Method: "PUT", Path: o.path, Header: o.head.write, Body: o.body}
	if o.op == Merge {
		req.Method, req.Header = "PATCH", o.head.merge
	}
	return true
}

func (o *pointer) check(resp *wire.Response) (int, error) {
	if o.op != Get {
		return 1, expect(resp, 204)
	}
	if err := expect(resp, 200); err != nil {
		return 0, err
	}
	if len(resp.Body) < EntitySize || len(resp.Body) > o.spec.Format.mostBytes() || !bytes.Contains(resp.Body, o.rk) {
		return 0, fmt.Errorf("get answered another entity than the one asked for (%d bytes)", len(resp.Body))
	}
	return 1, nil
}

// scanner walks the table from its start, again and again; one request is one page.
type scanner struct {
	*shared
	url   []byte
	query []byte
	seen  int
}

func (o *scanner) next(req *wire.Request) bool {
	*req = wire.Request{Method: "GET", Path: append(o.url[:len(o.url):len(o.url)], "()"...), Query: o.query, Header: o.head.accept}
	return true
}

func (o *scanner) check(resp *wire.Response) (int, error) {
	n, err := o.page(resp)
	if err != nil {
		return 0, err
	}
	o.seen += n
	o.query = o.query[:0]
	if resp.NextPartition != "" {
		o.query = append(o.query, "NextPartitionKey="...)
		o.query = append(o.query, url.QueryEscape(resp.NextPartition)...)
		o.query = append(o.query, "&NextRowKey="...)
		o.query = append(o.query, url.QueryEscape(resp.NextRow)...)
		return n, nil
	}
	seen := o.seen
	o.seen = 0
	if seen != o.spec.Layout.Entities {
		return n, fmt.Errorf("scan ended after %d entities, want %d", seen, o.spec.Layout.Entities)
	}
	return n, nil
}

// page returns how many entities the answer to a query has.
func (s *shared) page(resp *wire.Response) (int, error) {
	if err := expect(resp, 200); err != nil {
		return 0, err
	}
	return s.spec.Format.countEntities(resp.Body), nil
}

// pager asks for one page at a random partition: for the whole partition, which must fit one page; or for pageRows entities
// from there on, which shows what a page costs, wherever in a table it is.
type pager struct {
	*shared
	url   []byte
	rng   *rand.Rand
	query []byte
	want  int
}

func (o *pager) next(req *wire.Request) bool {
	l := o.spec.Layout
	i := o.rng.IntN(l.Entities)
	if o.spec.Op == Query {
		o.want = l.RowsPerPartition
		o.query = append(o.query[:0], "$filter=PartitionKey%20eq%20'"...)
	} else {
		o.want = min(pageRows, l.Entities-i/l.RowsPerPartition*l.RowsPerPartition)
		o.query = strconv.AppendInt(append(o.query[:0], "$top="...), pageRows, 10)
		o.query = append(o.query, "&$filter=PartitionKey%20ge%20'"...)
	}
	o.query = append(l.appendPK(o.query, i), '\'')
	*req = wire.Request{Method: "GET", Path: append(o.url[:len(o.url):len(o.url)], "()"...), Query: o.query, Header: o.head.accept}
	return true
}

func (o *pager) check(resp *wire.Response) (int, error) {
	n, err := o.page(resp)
	if err == nil && n != o.want {
		err = fmt.Errorf("%s answered %d entities, want %d", o.spec.Op, n, o.want)
	}
	return n, err
}
