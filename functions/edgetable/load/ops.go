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

// The workloads.
const (
	Insert Op = "insert" // inserts single entities
	Upsert Op = "upsert" // inserts or replaces entities, with PUT without If-Match
	Merge  Op = "merge"  // merges entities, with PATCH and If-Match: *
	Delete Op = "delete" // deletes entities, with DELETE and If-Match: *
	Get    Op = "get"    // reads single entities
	Query  Op = "query"  // reads one whole partition
	Scan   Op = "scan"   // reads the whole table page by page
	Batch  Op = "batch"  // inserts entities in entity group transactions
	Page   Op = "page"   // reads a short page that starts at a random partition
	Mixed  Op = "mixed"  // gets an entity in half of the requests, and upserts one in the other half
)

// Ops lists all workloads in the order of reports.
var Ops = []Op{Insert, Upsert, Merge, Delete, Get, Query, Scan, Batch, Page, Mixed}

// NeedsPreload reports whether the workload needs entities that Fill has stored before.
func (op Op) NeedsPreload() bool { return op != Insert && op != Batch }

// Spec describes one run. If the workload needs preloaded entities, Layout describes those that Fill has stored.
type Spec struct {
	Target      wire.Target
	Table       string
	Op          Op
	Format      Format // "" means JSON
	Layout      Layout
	Prefix      string // prefix that only this run uses; the RowKeys of new entities begin with it
	Connections int
	Warmup      time.Duration // time of the load before the measurement begins
	Duration    time.Duration // measured time; the workload Delete ends earlier if no entities are left
	Refused     Refused       // what to do after a 503 response
}

// Refused is what a client does after a 503 response.
type Refused string

const (
	freshPartitions = 1000 // number of partitions over which new entities are spread
	pageRows        = 100  // value of $top in the workload Page
)

// operation makes the requests of one worker. Each worker has its own operation, which reuses its buffers. A call of
// next(req) writes the next request to req, or returns false if there is no further request. A call of check(resp)
// returns the number of entities that the request wrote or returned. If the response is wrong, check(resp) returns an
// error.
type operation interface {
	next(req *wire.Request) bool
	check(resp *wire.Response) (entities int, err error)
}

// shared contains the state that all workers of a run use.
type shared struct {
	spec Spec
	head headers
	seq  atomic.Uint64 // counter for the keys of new entities, and for the entities to delete
}

// expect returns an error if the response does not have the status in the parameter want. The error may contain the
// body of the response, because errors of a table service contain no secrets.
func expect(resp *wire.Response, want int) error {
	if resp.Status == want {
		return nil
	}
	return fmt.Errorf("%w (%d was expected)", remote.ReadError(resp.Status, resp.Body), want)
}

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

// freshKey appends the keys of a new entity. No other run uses these keys, because they contain the prefix of the
// run.
func (s *shared) freshKey(pk, rk []byte, partition, n uint64) ([]byte, []byte) {
	pk = appendDigits(append(pk, 'n'), partition, 6)
	rk = append(append(rk, s.spec.Prefix...), '-')
	return pk, appendDigits(rk, n, 10)
}

// pointer makes requests for single preloaded entities. It implements the workloads get, upsert, merge, delete and
// mixed.
type pointer struct {
	*shared
	op   Op // operation of the current request
	url  string
	rng  *rand.Rand
	path []byte
	body []byte
	rk   []byte
}

// stride is a large prime, so it has no common factor with the number n of entities. For k from 0 to n-1, k*stride
// modulo n is each number below n once. Consecutive numbers are far apart.
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

// scanner reads the whole table, page by page. After the last page it begins again. One request reads one page.
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

// page checks the response to a query and returns the number of entities in it.
func (s *shared) page(resp *wire.Response) (int, error) {
	if err := expect(resp, 200); err != nil {
		return 0, err
	}
	return s.spec.Format.countEntities(resp.Body), nil
}

// pager requests one page that starts at a random partition. In the workload Query, the page is a whole partition,
// which must fit into one page. In the workload Page, it has at most pageRows entities.
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
		err = fmt.Errorf("%s returned %d entities, want %d", o.spec.Op, n, o.want)
	}
	return n, err
}
