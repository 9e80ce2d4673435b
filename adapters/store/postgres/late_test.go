package postgres_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgetable/testdata/must"
	"edgetable/testdata/postgres/local"
)

// late is a proxy for a database server on a unix socket. It delays all data from the
// clients, as a long wire does, but changes neither the order nor the rate.
type late struct {
	listener net.Listener
	server   string
	delay    time.Duration
}

// listenLate starts a proxy that delays data (the type late), and returns the directory of its socket.
func listenLate(b *testing.B, to *local.Cluster, delay time.Duration) (dir string) {
	dir = filepath.Join(to.Dir, "late")
	must.OK(b, os.Mkdir(dir, 0o755))
	name := fmt.Sprintf(".s.PGSQL.%d", to.Port)
	l, err := net.Listen("unix", filepath.Join(dir, name))
	must.OK(b, err)
	b.Cleanup(func() { l.Close() })
	must.OK(b, os.Chmod(filepath.Join(dir, name), 0o777))
	p := &late{l, filepath.Join(to.Dir, name), delay}
	go p.serve()
	return dir
}

func (p *late) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("unix", p.server)
		if err != nil {
			c.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(c, s) // errors are ignored, because both the client and the server may close the connection
			c.Close()
		}()
		go p.forward(s, c)
	}
}

type piece struct {
	bytes []byte
	due   chan struct{} // closed when the proxy may forward the bytes
}

func (p *late) forward(to, from net.Conn) {
	defer to.Close()
	pieces := make(chan piece, 1<<16)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 32<<10)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			due := make(chan struct{})
			time.AfterFunc(p.delay, func() { close(due) })
			pieces <- piece{b[:n], due}
		}
	}()
	for one := range pieces {
		<-one.due
		if _, err := to.Write(one.bytes); err != nil {
			from.Close()
		}
	}
}
