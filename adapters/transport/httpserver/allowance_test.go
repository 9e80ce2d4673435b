package httpserver

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that a client that transfers almost nothing is disconnected. A client that is slow but fast
// enough must not be disconnected, however long its request takes.
func TestProgress(t *testing.T) {
	t.Parallel()
	const much = 4 << 20
	for _, tt := range []struct {
		why   string
		bytes int           // number of bytes transferred at each step
		every time.Duration // time between two steps; 0 means that there are no steps
		ends  bool          // the allowance is used up, so the connection ends
	}{
		{"nothing", 0, 0, true},
		{"a byte a second", 1, time.Second, true},
		{"a little less than it must", 10 << 10, time.Second, true},
		{"a little more than it must", 17 << 10, time.Second, false},
		{"much, with pauses", 200 << 10, 12 * time.Second, false},
		{"much, with a pause that is too long", 1 << 20, 16 * time.Second, true},
	} {
		for _, direction := range []string{"send", "take"} {
			t.Run(direction+" "+tt.why, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server, client := net.Pipe()
					c := &conn{Conn: server, owner: new(connections)}
					c.renew()
					begin := time.Now()
					stop, stopped := make(chan struct{}), make(chan struct{})
					go func() {
						defer close(stopped)
						defer client.Close()
						b := make([]byte, max(1, tt.bytes))
						if tt.every == 0 {
							<-stop
							return
						}
						for done := 0; done < much; {
							time.Sleep(tt.every)
							var n int
							var err error
							if direction == "send" {
								n, err = client.Write(b)
							} else {
								n, err = io.ReadFull(client, b)
							}
							if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
								return
							}
							done += n
						}
					}()
					var err error
					if direction == "send" {
						_, err = io.CopyBuffer(io.Discard, struct{ io.Reader }{io.LimitReader(c, much)}, make([]byte, 32<<10))
					} else {
						_, err = c.Write(make([]byte, much))
					}
					ended := errors.Is(err, os.ErrDeadlineExceeded)
					if ended != tt.ends || err != nil && !ended {
						t.Errorf("after %v: %v", time.Since(begin), err)
					}
					if took := time.Since(begin); ended && took > 2*time.Minute {
						t.Errorf("given up after %v", took)
					}
					server.Close()
					close(stop)
					<-stopped
				})
			})
		}
	}
}

// TestRests checks that a connection releases its memory soon after its last request, and never during a request.
func TestRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		c := &conn{Conn: server, owner: new(connections), quiet: true}
		f := &front{c, c}
		c.renew()
		begin := time.Now()
		b := make([]byte, 10)
		if n, err := f.Read(b); n != 0 || err != io.EOF || !c.rests.Load() || time.Since(begin) != parkAfter {
			t.Errorf("%d, %v after %v", n, err, time.Since(begin))
		}
		c.rests.Store(false)
		go client.Write([]byte("GE"))
		if n, err := f.Read(b); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := f.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || c.rests.Load() {
			t.Errorf("half a request: %d, %v", n, err)
		}
	})
}

// TestDeadlinesFromAbove checks that deadlines set by the TLS layer are obeyed and can be cleared.
func TestDeadlinesFromAbove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		c := &conn{Conn: server, owner: new(connections)}
		c.renew()
		begin := time.Now()
		if err := c.SetDeadline(begin.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := c.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Second+fullAllowance {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}
