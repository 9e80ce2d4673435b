// Package local runs PostgreSQL for tests.
package local

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a PostgreSQL server with its own data directory. The server ends when Remove is called, or when the
// process that started it ends.
type Cluster struct {
	Dir   string // directory of the socket and of the log
	Port  int
	place string // directory of the data
	bin   string
	as    *account // nil means the current user

	life  io.Closer
	c     *exec.Cmd
	ended chan struct{} // closed when the server has ended
}

// Options configure a cluster.
type Options struct {
	Version  string   // version that is downloaded from Maven Central, such as 17.5.0; "" means Debian's PostgreSQL
	Settings []string // settings of the form name=value
	Dir      string   // data directory; "" means a temporary one
	From     *Cluster // primary of a standby; nil if the cluster is a primary
	Socket   string   // directory of the socket over which a standby reaches its primary; "" means the primary's own directory
	Log      string   // directory of the write-ahead log; "" means the data directory
}

// New creates a cluster and starts it.
func New(o Options) (c *Cluster, err error) {
	c = new(Cluster)
	if c.bin, err = programs(o.Version); err != nil {
		return nil, err
	}
	if c.as, err = other(); err != nil {
		return nil, err
	}
	c.place = o.Dir
	if c.Dir, err = folder(c.as, "edgetable-pg-"); err != nil {
		return nil, err
	}
	if c.place == "" {
		c.place = c.Dir
	} else if err := c.as.own(c.place); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	c.Port = ports[0]
	if o.From == nil {
		args := []string{"-D", c.data(), "--auth-local=trust", "--auth-host=scram-sha-256", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"}
		if o.Log != "" {
			args = append(args, "-X", o.Log)
			err = c.as.own(filepath.Dir(o.Log))
		}
		if err == nil {
			err = c.run("initdb", args...)
		}
	} else {
		err = c.copy(o.From)
		if o.Socket != "" {
			o.Settings = append(o.Settings, fmt.Sprintf("primary_conninfo='host=%s port=%d user=postgres'", o.Socket, o.From.Port))
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	if err = c.configure(o.Settings); err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.place, "data") }

// Data returns the directory with the database's files.
func (c *Cluster) Data() string { return c.data() }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as.credential(), Setpgid: true}
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), "LC_ALL=C", "HOME="+c.Dir)
	return cmd
}

// Run runs one of PostgreSQL's programs against the server, as its administrator.
func (c *Cluster) Run(program string, args ...string) error {
	return c.run(program, append([]string{"-h", c.Dir, "-p", strconv.Itoa(c.Port), "-U", "postgres"}, args...)...)
}

func (c *Cluster) run(program string, args ...string) error {
	out, err := c.command(filepath.Join(c.bin, program), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// keeper is a script that starts the server. File descriptor 3 is a pipe that reaches its end when the process that
// started the script ends; the script then stops the server. The shell's messages are written to the server's log,
// for example if the system refuses a new process. The shell reads the pipe itself, because other programs may be
// missing in the path of a test.
const keeper = `exec >>"$3" 2>&1
"$1" -D "$2" 3<&- & pid=$!
( read -r end <&3; kill -QUIT $pid 2>/dev/null ) >/dev/null 2>&1 &
exec 3<&-
wait $pid`

// Start starts a stopped server and waits until it responds.
func (c *Cluster) Start() error {
	// A killed server leaves a lock file that names a process. The system may still list this process.
	old, _ := filepath.Glob(filepath.Join(c.Dir, ".s.PGSQL.*"))
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := c.command("/bin/sh", "-c", keeper, "keeper", filepath.Join(c.bin, "postgres"), c.data(), filepath.Join(c.Dir, "log"))
	cmd.ExtraFiles = []*os.File{r}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.Close()
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // an error only says that the server was stopped; otherwise, the log has the cause
		close(ended)
	}()
	c.life, c.c, c.ended = w, cmd, ended
	return c.Wait(time.Minute)
}

// Wait waits until the server responds.
func (c *Cluster) Wait(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := answers(ctx, c.ended, c.DSN("")); err != nil {
		return fmt.Errorf("PostgreSQL does not answer within %v: %w\n%s", limit, err, tail(filepath.Join(c.Dir, "log")))
	}
	return nil
}

// answers waits until the server responds. It returns an error if the server has ended.
func answers(ctx context.Context, ended <-chan struct{}, dsn string) error {
	for {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop stops the server at once, as in a crash: commits that are not in the write-ahead log are lost.
func (c *Cluster) Stop() error {
	pid, err := c.Pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return err
	}
	return c.gone()
}

// Kill kills the server and all its processes.
func (c *Cluster) Kill() error {
	if err := syscall.Kill(-c.c.Process.Pid, syscall.SIGKILL); err != nil {
		return err
	}
	return c.gone()
}

// Crash kills one process of the server, as the kernel does when memory is short. PostgreSQL then restarts all its
// processes.
func (c *Cluster) Crash(ctx context.Context, pid int) error {
	conn, err := pgx.Connect(ctx, c.DSN(""))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_sleep(60)"); err == nil {
		return errors.New("the server did not restart")
	}
	return c.Wait(time.Minute)
}

// Signal sends a signal to the server and all its processes.
func (c *Cluster) Signal(s syscall.Signal) error {
	server, err := c.Pid()
	if err != nil {
		return err
	}
	return signalServer(server, s)
}

func (c *Cluster) gone() error {
	<-c.ended
	return c.life.Close()
}

// Pid returns the process id of the server's main process (the postmaster).
func (c *Cluster) Pid() (int, error) { return pidIn(c.data()) }

// pidIn returns the process id of the PostgreSQL server (the postmaster) that uses this data directory.
func pidIn(data string) (int, error) { return readPid(filepath.Join(data, "postmaster.pid")) }

// readPid reads a process id from the first line of a file.
func readPid(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// Restart crashes the server and starts it again.
func (c *Cluster) Restart() error {
	if err := c.Stop(); err != nil {
		return err
	}
	return c.Start()
}

// Promote promotes a standby to a primary.
func (c *Cluster) Promote() error {
	return c.Exec("SELECT pg_promote()")
}

func (c *Cluster) copy(from *Cluster) error {
	return c.run("pg_basebackup", "-D", c.data(), "-h", from.Dir, "-p", strconv.Itoa(from.Port), "-U", "postgres", "-R", "-X", "stream", "--no-sync", "-c", "fast")
}

// configure appends settings to the configuration file; if a name occurs twice, the last setting counts.
func (c *Cluster) configure(settings []string) error {
	list := append([]string{"listen_addresses='127.0.0.1'", "unix_socket_directories='" + c.Dir + "'", "port=" + strconv.Itoa(c.Port), "log_min_messages=warning"}, settings...)
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + strings.Join(list, "\n") + "\n")
	return errors.Join(err, f.Close())
}

// Remove stops the server and removes its files.
func (c *Cluster) Remove() error {
	select {
	case <-c.ended:
	default:
		if c.c != nil {
			_ = c.Stop() // an error is ignored, because the server may have ended by itself just before
		}
	}
	return os.RemoveAll(c.Dir)
}

// Address returns the TCP address of the server.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) }

// DSN returns a connection string for an administrator, over the socket. The text more is appended.
func (c *Cluster) DSN(more string) string {
	return fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres sslmode=disable connect_timeout=5 %s", c.Dir, c.Port, more)
}

// Exec executes SQL as the administrator.
func (c *Cluster) Exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN(""))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

var schemas atomic.Int64

// Name returns the name of a schema that was never used.
func Name() string { return fmt.Sprintf("et%d_%s", schemas.Add(1), strings.ToLower(rand.Text()[:6])) }

// children returns the ids of the running processes that a process started.
func children(parent int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // this process has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, pid)
		}
	}
	return list
}

// tail returns the end of a log.
func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Sprintf("no log: %v", err)
	}
	return fmt.Sprintf("%s: …%s", filepath.Base(file), text[max(0, len(text)-3000):])
}

// freePorts returns unused ports. They are below the ports that the system assigns to outgoing connections, because
// such a connection could take a port before the server does.
func freePorts(n int) (list []int, err error) {
	for tries := 0; len(list) < n; tries++ {
		var b [2]byte
		_, _ = rand.Read(b[:]) // rand.Read never fails
		port := 20000 + int(binary.BigEndian.Uint16(b[:]))%12000
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil && tries < 100 {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer l.Close()
		list = append(list, port)
	}
	return list, nil
}

// programs returns the directory of PostgreSQL's programs. The script .ci/postgres installs the programs. The
// search for the script begins in the working directory, which is the directory of the test's package.
func programs(version string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		script := filepath.Join(dir, ".ci", "postgres")
		if _, err := os.Stat(script); err == nil {
			if version == "" {
				version = "system"
			}
			c := exec.Command(script, version)
			c.Stderr = os.Stderr
			out, err := c.Output()
			return strings.TrimSpace(string(out)), err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New(".ci/postgres is not above the working directory")
		}
		dir = parent
	}
}
