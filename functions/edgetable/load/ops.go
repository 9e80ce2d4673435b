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

// Op is the name of a workload.
type Op string

// Workloads.
const (
	Insert Op = "insert" // a request inserts a single entity
	Upsert Op = "upsert" // a request inserts or replaces an entity, with PUT without If-Match
	Merge  Op = "merge"  // a request merges an entity, with PATCH and If-Match: *
	Delete Op = "delete" // a request deletes an entity, with DELETE and If-Match: *
	Get    Op = "get"    // a request reads a single entity
	Query  Op = "query"  // a request reads a whole partition
	Scan   Op = "scan"   // a request reads the next page of the whole table
	Batch  Op = "batch"  // a request inserts entities in an entity group transaction
	Page   Op = "page"   // a request reads a page of pageRows entities from a random partition
	Mixed  Op = "mixed"  // half of the requests read entities, and the others upsert entities
)

// Ops are all workloads in the order of reports.
var Ops = []Op{Insert, Upsert, Merge, Delete, Get, Query, Scan, Batch, Page, Mixed}

// NeedsPreload reports whether the workload needs the entities that Fill inserts.
func (op Op) NeedsPreload() bool { return op != Insert && op != Batch }

// Spec describes a run. Layout describes the preloaded entities, if the workload needs any.
type Spec struct {
	Target      wire.Target
	Table       string
	Op          Op
	Format      Format // format of the entities; "" means JSON
	Layout      Layout
	Prefix      string // prefix of the RowKeys of new entities; unique to the run
	Connections int
	Warmup      time.Duration // time before the measurement
	Duration    time.Duration // measured time; Delete ends earlier if no entities are left
	Refused     Refused
}

// Refused is a client's reaction to status 503.
type Refused string

const (
	freshPartitions = 1000 // number of partitions that receive new entities
	pageRows        = 100  // value of $top in the workload Page
)

// operation creates the requests of one worker. The method next writes a request to req, and returns false if there are
// no more requests. The method check returns the number of entities that the request wrote or returned.
type operation interface {
	next(req *wire.Request) bool
	check(resp *wire.Response) (entities int, err error)
}

// runState is the state common to all workers of a run.
type runState struct {
	spec Spec
	head headers
	seq  atomic.Uint64 // sequence number of new entities, or of entities to delete
}

// expect returns an error if a response does not have the expected status. It may contain the response body, because
// errors of a table service contain no secrets.
func expect(resp *wire.Response, want int) error {
	if resp.Status == want {
		return nil
	}
	return fmt.Errorf("%w (%d was expected)", remote.ReadError(resp.Status, resp.Body), want)
}

type inserter struct {
	*runState
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

// freshKey appends the keys of a new entity. They contain the prefix of the run, so no other run uses them.
func (s *runState) freshKey(pk, rk []byte, partition, n uint64) ([]byte, []byte) {
	pk = appendDigits(append(pk, 'n'), partition, 6)
	rk = append(append(rk, s.spec.Prefix...), '-')
	return pk, appendDigits(rk, n, 10)
}

// pointer implements the workloads that address single preloaded entities: Get, Upsert, Merge, Delete and Mixed.
type pointer struct {
	*runState
	op   Op
	url  string
	rng  *rand.Rand
	path []byte
	body []byte
	rk   []byte
}

// stride is a large prime, so that k*stride mod n visits each of n entities once, in an order in which consecutive
// entities are far apart.
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
		return 0, fmt.Errorf("get returned an entity that was not requested (%d bytes)", len(resp.Body))
	}
	return 1, nil
}

// scanner reads the whole table, one page in each request, and then starts again.
type scanner struct {
	*runState
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

// page checks a query response and returns the number of its entities.
func (s *runState) page(resp *wire.Response) (int, error) {
	if err := expect(resp, 200); err != nil {
		return 0, err
	}
	return s.spec.Format.countEntities(resp.Body), nil
}

// pager reads from a random partition. In the workload Query, it reads the whole partition, which must fit into a page.
// In the workload Page, it reads up to pageRows entities.
type pager struct {
	*runState
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
		err = fmt.Errorf("%s returned %d entities, want %d", o.spec.Op, n, o.want)
	}
	return n, err
}
