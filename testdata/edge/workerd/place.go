package workerd

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
)

// Place is a set of Durable Objects with its own clock. Other places do not see these objects.
type Place struct {
	server   *Server
	name     string
	now      atomic.Pointer[func() edm.Ticks]
	reading  sync.Mutex // held while the clock is read and the reading is numbered, so that a later reading has a higher number
	restarts atomic.Int32
	fail     atomic.Int32 // 0 means that any number of rows can be written; n+1 means that at most n rows can be written
	size     atomic.Int64 // the size that objects report; 0 means the real size
	aged     atomic.Bool
	past     atomic.Bool
	faults   atomic.Pointer[func() Faults]
}

// Faults lists the next faults of a Place (a set of Durable Objects). Messages has the faults of the next messages to the
// objects, from the test or from other objects. Steps has the faults of the objects' next attempts to handle a message. The
// first element applies to the first message or attempt, and so on; faults.mjs explains the kinds. Alarms is the number of
// alarms that fail next.
type Faults struct {
	Messages, Steps []string
	Alarms          int
}

var numbers, readings atomic.Int64

// NewPlace returns a place that has no objects yet.
func (s *Server) NewPlace(now func() edm.Ticks) *Place {
	return s.place(fmt.Sprintf("place%d", numbers.Add(1)), now)
}

// Move returns the same set of Durable Objects in another server, which uses the same data.
func (p *Place) Move(to *Server) *Place { return to.place(p.name, *p.now.Load()) }

func (s *Server) place(name string, now func() edm.Ticks) *Place {
	p := &Place{server: s, name: name}
	p.now.Store(&now)
	return p
}

// Restart makes all objects start again, with only their stored rows and with another clock.
func (p *Place) Restart(now func() edm.Ticks) {
	p.now.Store(&now)
	p.restarts.Add(1)
}

// read returns the time of the clock, and a number that increases with each call. Each request carries the time and the
// number. Requests may arrive in another order, so the objects use the time that has the highest number.
func (p *Place) read() (now edm.Ticks, number int64) {
	p.reading.Lock()
	defer p.reading.Unlock()
	return (*p.now.Load())(), readings.Add(1)
}

// FailAfter limits the number of rows that a transaction of an object can write. A transaction that writes more rows fails.
// With a negative number, there is no limit.
func (p *Place) FailAfter(rows int) { p.fail.Store(int32(rows + 1)) }

// Hold makes each object report this number of bytes as the size of its storage. With 0, the objects report the real size.
func (p *Place) Hold(size int64) { p.size.Store(size) }

// Meet applies the faults f during the next call of an object.
func (p *Place) Meet(f Faults) {
	once := func() Faults { p.faults.Store(nil); return f }
	p.faults.Store(&once)
}

// Chaos calls the function f for each call of an object, and applies the faults that f returns.
func (p *Place) Chaos(f func() Faults) { p.faults.Store(&f) }

// Age makes new objects appear to be three hours old. A new object may get a repeated write that an earlier object has
// applied. An object that seems this old is certain that a write it receives was sent after the object's creation. So the
// object knows that the write was not applied before.
func (p *Place) Age() { p.aged.Store(true) }

// Young ends the effect of Age: new objects then have their real age. An object that was just created cannot know whether a
// write that it receives was already applied before.
func (p *Place) Young() { p.aged.Store(false) }

// Remember makes objects keep their earlier states, so that the states can be restored. It applies to objects that wake up
// later. The platform keeps earlier states, but workerd does not; past.mjs simulates them.
func (p *Place) Remember() { p.past.Store(true) }

// Count returns the number of rows in the storage of one object whose keys begin with the byte of the parameter space. Each
// kind of row has a byte of its own.
func (p *Place) Count(ctx context.Context, object string, space byte) (n int, err error) {
	target := fmt.Sprintf("%s/%s?object=%s&space=%c", p.server.objects, p.name, url.QueryEscape(object), space)
	err = p.server.get(ctx, target, &n)
	return n, err
}

// Storage is the content of an object's SQLite database.
type Storage struct {
	Tables []string // all SQL tables; the platform has tables of its own, for example for the alarm
	Size   int64    // size of the database in bytes
	Alarm  float64  // the time of the alarm in milliseconds since 1970; 0 if there is none
}

// Storage returns the content of the database of a Durable Object.
func (p *Place) Storage(ctx context.Context, object string) (s Storage, err error) {
	target := fmt.Sprintf("%s/%s?object=%s", p.server.objects, p.name, url.QueryEscape(object))
	err = p.server.get(ctx, target, &s)
	return s, err
}

// Instances counts the wasm instances of the module in a server.
type Instances struct {
	Made   int // number of instances that were made since the server started
	Memory int // sum of the memory of all instances in bytes
	Peak   int // highest value of the field Memory so far
}

// Instances counts the wasm instances of the module. If uses is not 0, it first makes the instances look old: each then
// counts as if it had served this number of requests.
func (s *Server) Instances(ctx context.Context, uses int) (i Instances, err error) {
	url := s.objects + "/?"
	if uses > 0 {
		url += fmt.Sprintf("uses=%d", uses)
	}
	err = s.get(ctx, url, &i)
	return i, err
}

// Messages holds the number of messages to objects. It does not count messages that tests send directly.
type Messages struct{ Bucket, Catalog int }

// Messages returns the number of messages since the previous call of Messages.
func (s *Server) Messages(ctx context.Context) (m Messages, err error) {
	err = s.get(ctx, s.objects+"/?counted", &m)
	return m, err
}

// Names returns how many names in the KV replica begin with a prefix, at most 1,000.
func (s *Server) Names(ctx context.Context, prefix string) (n int, err error) {
	err = s.get(ctx, s.objects+"/?names="+url.QueryEscape(prefix), &n)
	return n, err
}

func (s *Server) get(ctx context.Context, url string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	out, err := do(req)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, to)
}

// Caller returns a Caller for the objects of the place.
func (p *Place) Caller() durableobject.Caller { return caller{p} }

type caller struct{ *Place }

// Client sends requests to a server. It drops idle connections after a second. workerd closes connections after five idle
// seconds; a request that is sent at that moment fails, and only some requests can be repeated.
var Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Second}}

// NewClient returns a client for tests that send more concurrent requests than a busy machine can serve within workerd's
// timeouts. Each request has its own connection, and the number of connections is limited.
func NewClient(connections int) *http.Client {
	return &http.Client{Transport: repeated{&http.Transport{MaxConnsPerHost: connections, DisableKeepAlives: true}}}
}

// A repeated transport sends a GET again if its connection ended before a response. workerd closes a connection if it has not
// read the head of a request within 15 seconds (headerTimeout of its HTTP library). This happens on a very busy machine.
type repeated struct{ *http.Transport }

func (t repeated) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		resp, err := t.Transport.RoundTrip(r)
		closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
		if !closed || r.Method != http.MethodGet || r.Context().Err() != nil {
			return resp, err
		}
	}
}

// Frames encodes calls of Durable Objects. The wasm module uses the same encoding when it asks its JavaScript to call other
// objects.
func Frames(calls []durableobject.Call) (message []byte) {
	for _, call := range calls {
		for _, text := range []string{call.To.Name, call.To.Jurisdiction, call.To.Hint} {
			message = frame(message, []byte(text))
		}
		message = frame(message, call.Message)
	}
	return message
}

// Call implements [durableobject.Caller].
func (c caller) Call(ctx context.Context, calls []durableobject.Call) []durableobject.Answer {
	out, err := c.post(ctx, Frames(calls))
	answers := make([]durableobject.Answer, len(calls))
	for i := range answers {
		answers[i].Err = durableobject.ErrLost
		if err != nil || len(out) < 5 {
			continue
		}
		n := 4 + binary.LittleEndian.Uint32(out)
		switch answer := out[4:n]; answer[0] {
		case 0:
			answers[i] = durableobject.Answer{Message: answer[1:]}
		case 1:
			answers[i].Err = durableobject.ErrOverloaded
		case 3:
			answers[i].Err = durableobject.ErrUnreachable
		case 4:
			answers[i].Err = &durableobject.FailedError{Reason: string(answer[1:])}
		}
		out = out[n:]
	}
	return answers
}

func frame(dst, b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

func (c caller) post(ctx context.Context, message []byte) ([]byte, error) {
	const unixEpoch = 62135596800 * edm.TicksPerSecond
	now, reading := c.read()
	url := fmt.Sprintf("%s/%s?now=%f&reading=%d&restarts=%d", c.server.objects, c.name, float64(now-unixEpoch)/(edm.TicksPerSecond/1000), reading, c.restarts.Load())
	if n := c.fail.Load(); n > 0 {
		url += fmt.Sprintf("&fail=%d", n-1)
	}
	if n := c.size.Load(); n > 0 {
		url += fmt.Sprintf("&size=%d", n)
	}
	if c.past.Load() {
		url += "&past=1"
	}
	if c.aged.Load() {
		url += fmt.Sprintf("&age=%d", 3*3600*1000)
	}
	if next := c.faults.Load(); next != nil {
		f := (*next)()
		url += fmt.Sprintf("&messages=%s&steps=%s&alarms=%d", strings.Join(f.Messages, ","), strings.Join(f.Steps, ","), f.Alarms)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	return do(req)
}

func do(req *http.Request) ([]byte, error) {
	resp, err := Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, out)
	}
	return out, err
}
