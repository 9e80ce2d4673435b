package bounded_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"edgetable/functions/edgetable/bounded"
	"edgetable/testdata/pipes"
)

const most = 4

// serve calls test with a running HTTP server. The server answers requests for /wait only after test has returned.
func serve(t *testing.T, test func(t *testing.T, l *pipes.Listener)) {
	synctest.Test(t, func(t *testing.T) {
		l, end, done := pipes.Listen(), make(chan struct{}), make(chan struct{})
		s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				<-end
			}
		})}
		go func() {
			defer close(done)
			_ = bounded.Serve(s, l, most)
		}()
		test(t, l)
		close(end)
		_ = s.Close()
		<-done
		expect(t, l, 0)
	})
}

func expect(t *testing.T, l *pipes.Listener, open int) {
	t.Helper()
	synctest.Wait()
	if n := l.Open(); n != open {
		t.Errorf("%d connections are open, want %d", n, open)
	}
}

// TestOneClient checks that a client that opens more and more connections loses its own connections, and that the
// connections of other clients stay open.
func TestOneClient(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(i int) string{
		"an address":      func(int) string { return "192.0.2.9" },
		"a network of v6": func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serve(t, func(t *testing.T, l *pipes.Listener) {
				kept := l.Connect("192.0.2.1")
				for i := range 3 * most {
					l.Connect(address(i))
				}
				expect(t, l, most)
				if kept.Get("/") != 200 {
					t.Error("the connection of another client was closed")
				}
				if l.Connect("192.0.2.2").Get("/") != 200 {
					t.Error("a new client was not served")
				}
				expect(t, l, most)
			})
		})
	}
}

// TestIdleFirst checks that an idle connection is closed instead of a busy connection, even if the busy connection
// is older.
func TestIdleFirst(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, l *pipes.Listener) {
		busy := l.Connect("")
		if err := busy.Ask("/wait"); err != nil {
			t.Fatal(err)
		}
		var idle []*pipes.Client
		for range most - 1 {
			c := l.Connect("")
			if c.Get("/") != 200 {
				t.Fatal("there was room")
			}
			idle = append(idle, c)
		}
		synctest.Wait()
		if l.Connect("").Get("/") != 200 {
			t.Error("a new connection was not served")
		}
		if idle[0].Get("/") != 0 {
			t.Error("the oldest without a request stayed")
		}
		if idle[1].Get("/") != 200 {
			t.Error("more than one made room")
		}
	})
}

// TestAllBusy checks that the oldest connection is closed if all connections are busy.
func TestAllBusy(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, l *pipes.Listener) {
		ended := make(chan int, most)
		for i := range most {
			c := l.Connect("192.0.2.9")
			go func() {
				c.Get("/wait")
				ended <- i
			}()
			synctest.Wait()
		}
		if l.Connect("192.0.2.1").Get("/") != 200 {
			t.Error("a new client was not served")
		}
		if i := <-ended; i != 0 {
			t.Errorf("connection %d made room, want the oldest", i)
		}
	})
}
