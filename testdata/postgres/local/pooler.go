package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Pooler is Debian's pgbouncer in front of a [Cluster].
type Pooler struct {
	dir  string
	port int
	c    *process
}

// NewPooler starts a pooler that shares connections by session or by transaction.
func NewPooler(ctx context.Context, c *Cluster, mode string) (*Pooler, error) {
	bin, err := programs("pgbouncer")
	if err != nil {
		return nil, err
	}
	p := new(Pooler)
	if p.dir, err = folder(c.as, "edgetable-pooler-"); err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err == nil {
		p.port = ports[0]
		err = p.start(ctx, c, bin, mode)
	}
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

func (p *Pooler) start(ctx context.Context, c *Cluster, bin, mode string) error {
	file := filepath.Join(p.dir, "pgbouncer.ini")
	err := os.WriteFile(file, fmt.Appendf(nil, `[databases]
postgres = host=%s port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
max_client_conn = 100
default_pool_size = 20
`, c.Dir, c.Port, p.port, mode), 0o644)
	if err != nil {
		return err
	}
	p.c = &process{dir: p.dir, as: c.as, name: "pgbouncer", args: []string{filepath.Join(bin, "pgbouncer"), "-q", file}}
	if err := p.c.start(); err != nil {
		return err
	}
	return answers(ctx, nil, p.DSN())
}

// DSN returns a connection string that connects to the cluster through the pooler.
func (p *Pooler) DSN() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable connect_timeout=5", p.port)
}

// Remove stops the pooler and removes its files.
func (p *Pooler) Remove() error {
	var err error
	if p.c != nil {
		err = p.c.kill()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
