package local

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Patroni is a cluster of three of Debian's PostgreSQL servers under Debian's Patroni, with three etcd servers.
// Patroni chooses one of the two standbys as the synchronous standby. The primary confirms a write only after the
// synchronous standby has the write. So Patroni promotes only the synchronous standby.
type Patroni struct {
	Nodes    [3]*Node
	etcd     [3]*process
	client   string // client address of an etcd server
	dir      string
	as       *account
	password string
	async    bool // whether the primary confirms writes without waiting for a standby
}

// Node is one machine of a [Patroni]: a PostgreSQL server and the Patroni process that manages it.
type Node struct {
	Name       string
	port, rest int
	dir        string
	patroni    *process
}

// NewPatroni starts a cluster and waits until it has a primary with a synchronous standby. The cluster ends when
// Remove is called, or when the process that started it ends.
func NewPatroni() (*Patroni, error) { return newPatroni(new(Patroni)) }

// NewAsynchronous starts a cluster whose primary confirms writes that no standby has received.
func NewAsynchronous() (*Patroni, error) { return newPatroni(&Patroni{async: true}) }

func newPatroni(p *Patroni) (_ *Patroni, err error) {
	etcd, err := programs("patroni")
	if err != nil {
		return nil, err
	}
	bin, err := programs("")
	if err != nil {
		return nil, err
	}
	p.password = rand.Text()
	if p.as, err = other(); err != nil {
		return nil, err
	}
	if p.dir, err = folder(p.as, "edgetable-ha-"); err != nil {
		return nil, err
	}
	if err := p.start(etcd, bin); err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

func (p *Patroni) start(etcd, bin string) error {
	ports, err := freePorts(4 * len(p.Nodes))
	if err != nil {
		return err
	}
	var members, clients []string
	for i := range p.etcd {
		members = append(members, fmt.Sprintf("e%d=http://127.0.0.1:%d", i, ports[4*i]))
		clients = append(clients, fmt.Sprintf("127.0.0.1:%d", ports[4*i+1]))
	}
	p.client = clients[0]
	for i := range p.etcd {
		_, peer, _ := strings.Cut(members[i], "=")
		p.etcd[i] = &process{dir: p.dir, as: p.as, name: fmt.Sprint("etcd", i), args: []string{
			filepath.Join(etcd, "etcd"), "--name", fmt.Sprint("e", i), "--data-dir", filepath.Join(p.dir, fmt.Sprint("etcd", i, ".data")),
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(members, ","),
			"--listen-client-urls", "http://" + clients[i], "--advertise-client-urls", "http://" + clients[i],
			"--enable-v2=true", "--heartbeat-interval", "250", "--election-timeout", "2500", "--unsafe-no-fsync", "--log-level", "warn",
		}}
		if err := p.etcd[i].start(); err != nil {
			return err
		}
	}
	for i := range p.Nodes {
		n := &Node{Name: fmt.Sprint("p", i), port: ports[4*i+2], rest: ports[4*i+3], dir: filepath.Join(p.dir, fmt.Sprint("p", i))}
		p.Nodes[i] = n
		file := n.dir + ".yml"
		if err := os.WriteFile(file, []byte(p.config(n, bin, clients)), 0o644); err != nil {
			return err
		}
		n.patroni = &process{dir: p.dir, as: p.as, name: n.Name, args: []string{"/usr/bin/patroni", file}}
		if err := n.patroni.start(); err != nil {
			return err
		}
	}
	return p.await(2*time.Minute, "a primary with a synchronous standby", p.safe)
}

// config returns Patroni's configuration. It uses the older version of etcd's protocol. With the newer version,
// Patroni 3.0 uses an outdated state after Patroni was paused (pull request 2783 of Patroni). The two settings about
// data directories let a node rejoin if its log has diverged from the primary's log.
func (p *Patroni) config(n *Node, bin string, etcd []string) string {
	startTimeout := 300 // the default: Patroni restarts a dead server on its node
	if p.async {
		startTimeout = 0 // Patroni does not restart a dead primary, but makes another node the primary at once
	}
	return fmt.Sprintf(`scope: edgetable
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd: {hosts: "%[3]s"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    primary_start_timeout: %[10]d
    synchronous_mode: %[9]v
    synchronous_mode_strict: %[9]v
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters: {wal_log_hints: "on", max_connections: 60, shared_buffers: 32MB}
  initdb: [encoding: UTF8, locale: C, data-checksums]
postgresql:
  listen: "127.0.0.1:%[4]d"
  connect_address: "127.0.0.1:%[4]d"
  data_dir: %[5]s
  bin_dir: %[6]s
  pgpass: %[5]s.pgpass
  authentication:
    superuser: {username: postgres, password: %[7]s}
    replication: {username: replicator, password: %[7]s}
    rewind: {username: rewinder, password: %[7]s}
  pg_hba: [host all all 127.0.0.1/32 scram-sha-256, host replication all 127.0.0.1/32 scram-sha-256]
  parameters: {unix_socket_directories: %[8]s}
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
`, n.Name, n.rest, strings.Join(etcd, ","), n.port, n.dir, bin, p.password, p.dir, !p.async, startTimeout)
}

// DSN returns a connection string for the primary, whichever node is the primary.
func (p *Patroni) DSN() string {
	ports := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		ports[i] = strconv.Itoa(n.port)
	}
	return fmt.Sprintf("host=127.0.0.1,127.0.0.1,127.0.0.1 port=%s user=postgres password=%s dbname=postgres sslmode=disable connect_timeout=2 target_session_attrs=read-write",
		strings.Join(ports, ","), p.password)
}

// Primary returns the node that holds Patroni's lock of the primary, or nil.
func (p *Patroni) Primary() *Node {
	for _, n := range p.Nodes {
		if n.says("primary") {
			return n
		}
	}
	return nil
}

// says asks Patroni's REST API on this node for the path in its argument. It reports whether the status of the response
// is 200.
func (n *Node) says(what string) bool {
	client := http.Client{Timeout: 2 * time.Second}
	r, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", n.rest, what))
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// safe reports whether a standby can be promoted without loss of writes. There must be a primary, and Patroni must
// have recorded which standby is synchronous. A primary already confirms writes before this record exists. If the
// primary were lost then, Patroni would promote no standby.
func (p *Patroni) safe() bool {
	primary := p.Primary()
	if primary == nil || p.async {
		return primary != nil
	}
	r, err := http.Get("http://" + p.client + "/v2/keys/service/edgetable/sync?quorum=true")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	var found struct{ Node struct{ Value string } }
	var sync struct {
		Leader  string
		Standby string `json:"sync_standby"`
	}
	return json.NewDecoder(r.Body).Decode(&found) == nil && json.Unmarshal([]byte(found.Node.Value), &sync) == nil &&
		sync.Leader == primary.Name && sync.Standby != ""
}

// await waits until the function so returns true. It fails if a program ends during the wait, or if the time limit
// passes. The error contains the ends of all logs.
func (p *Patroni) await(limit time.Duration, what string, so func() bool) error {
	for end := time.Now().Add(limit); !so(); time.Sleep(50 * time.Millisecond) {
		for _, one := range p.processes() {
			if one.left() {
				return fmt.Errorf("there will not be %s: %s has ended\n%s", what, one.name, p.Log())
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %v there is not %s\n%s", limit, what, p.Log())
		}
	}
	return nil
}

// processes returns the started programs: etcd and the Patroni processes.
func (p *Patroni) processes() (list []*process) {
	for _, e := range p.etcd {
		if e != nil {
			list = append(list, e)
		}
	}
	for _, n := range p.Nodes {
		if n != nil && n.patroni != nil {
			list = append(list, n.patroni)
		}
	}
	return list
}

// Complete waits until all nodes run again and the primary has its standbys.
func (p *Patroni) Complete() error {
	return p.await(3*time.Minute, "a primary with two standbys", func() bool {
		for _, n := range p.Nodes {
			if !n.says("health") {
				return false
			}
		}
		return p.safe()
	})
}

// KillServer kills the PostgreSQL server of a node with all its processes. Patroni on that node notices this at once.
func (n *Node) KillServer() error { return n.signal(syscall.SIGKILL) }

// KillBackend kills one PostgreSQL process that serves a client, as the kernel does when memory is short. PostgreSQL
// then restarts all its processes. KillBackend returns when the server responds again.
func (p *Patroni) KillBackend(ctx context.Context, n *Node) error {
	server, err := pidIn(n.dir)
	if err != nil {
		return err
	}
	for _, pid := range children(server) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.Contains(string(name), "postgres postgres 127.0.0.1(") {
			continue // the process has ended, or it is not a process that serves a client
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
		gone := func() bool { return !slices.Contains(children(server), pid) } // the server removes the killed process only after it has noticed the kill
		if err := p.await(time.Minute, "a server that restarts in place", gone); err != nil {
			return err
		}
		return answers(ctx, nil, fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=%s dbname=postgres sslmode=disable connect_timeout=2", n.port, p.password))
	}
	return errors.New("the server has no client")
}

// Kill kills Patroni and all processes of the PostgreSQL server on a node, like the loss of the machine. The other
// nodes notice that the primary's lock is not renewed.
func (n *Node) Kill() error {
	if err := n.patroni.kill(); err != nil { // Patroni first, because it would restart the server
		return err
	}
	return n.KillServer()
}

// StopSending stops the processes that send the server's log to standbys.
func (n *Node) StopSending() error {
	server, err := pidIn(n.dir)
	if err != nil {
		return err
	}
	stopped := 0
	for _, pid := range children(server) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.Contains(string(name), "walsender") {
			continue // the process has ended, or it is not a process that sends the write-ahead log to a standby
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		stopped++
	}
	if stopped == 0 {
		return errors.New("the server has no standby")
	}
	return nil
}

// Freeze suspends all processes of the node, like the migration of a virtual machine.
func (n *Node) Freeze() error { return n.signalAll(syscall.SIGSTOP) }

// Thaw resumes the processes that Freeze suspended. They do not notice that they were suspended.
func (n *Node) Thaw() error { return n.signalAll(syscall.SIGCONT) }

// Start starts a node that was killed.
func (n *Node) Start() error { return n.patroni.start() }

func (n *Node) signal(s syscall.Signal) error {
	server, err := pidIn(n.dir)
	if err != nil {
		return err
	}
	return signalServer(server, s)
}

// signalServer sends a signal to all processes of a server. It first suspends the main process, which could otherwise
// start another process that the signal misses. No process may remain, because a new server cannot start while an old
// process uses the shared memory.
func signalServer(server int, s syscall.Signal) error {
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for _, pid := range append(children(server), server) {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

func (n *Node) signalAll(s syscall.Signal) error {
	manager, err := n.patroni.pid()
	if err != nil {
		return err
	}
	return errors.Join(syscall.Kill(manager, s), n.signal(s))
}

// Remove ends all processes and removes their files.
func (p *Patroni) Remove() error {
	var all []error
	for _, one := range slices.Backward(p.processes()) { // in reverse order: Patroni before etcd
		all = append(all, one.kill())
	}
	for _, n := range p.Nodes {
		if n != nil {
			_ = n.signal(syscall.SIGKILL) // an error is ignored, because it means that the node has ended
		}
	}
	return errors.Join(append(all, os.RemoveAll(p.dir))...)
}

// process is a program that ends when this process ends.
type process struct {
	dir, name string
	as        *account
	args      []string
	c         *exec.Cmd
	ended     chan struct{} // closed when the program has ended
	killed    bool
	life      *os.File
}

// guard is a script that starts a program and records its process id. File descriptor 3 is a pipe that reaches its
// end when the process that started the script ends. The script then kills the program, and a server that the program
// started. The shell's messages are written to the log of the program.
const guard = `name=$1; shift; exec >>"$name.log" 2>&1
"$@" 3<&- & pid=$!
echo $pid >"$name.pid"
( read -r end <&3; kill -KILL $pid; read -r server <"$name/postmaster.pid" && kill -STOP $server && pkill -KILL -P $server; kill -KILL $server ) >/dev/null 2>&1 &
exec 3<&-
wait $pid`

func (p *process) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	p.c = exec.Command("/bin/sh", append([]string{"-c", guard, "guard", filepath.Join(p.dir, p.name)}, p.args...)...)
	p.c.SysProcAttr = &syscall.SysProcAttr{Credential: p.as.credential(), Setpgid: true}
	p.c.Dir, p.c.Env = p.dir, append(os.Environ(), "LC_ALL=C", "HOME="+p.dir)
	p.c.ExtraFiles = []*os.File{r}
	_ = os.Remove(filepath.Join(p.dir, p.name+".pid"))
	if err := p.c.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	c, ended := p.c, make(chan struct{})
	go func() {
		_ = c.Wait() // an error only says that the program was killed; otherwise, the log has the cause
		close(ended)
	}()
	p.life, p.ended, p.killed = w, ended, false
	return nil
}

func (p *process) pid() (int, error) { return readPid(filepath.Join(p.dir, p.name+".pid")) }

// kill kills the program if it is running.
func (p *process) kill() error {
	if p.ended == nil || p.killed {
		return nil
	}
	p.killed = true
	err := syscall.Kill(-p.c.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // an error is ignored, because it means that the program has already ended
	}
	if err == nil {
		<-p.ended
	}
	return errors.Join(err, p.life.Close())
}

// left reports whether the program has ended although the test did not kill it.
func (p *process) left() bool {
	if p.ended == nil || p.killed {
		return false
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Log returns the end of the logs of etcd and of the Patroni processes.
func (p *Patroni) Log() string {
	var b strings.Builder
	for _, one := range p.processes() {
		fmt.Fprintln(&b, tail(filepath.Join(p.dir, one.name+".log")))
	}
	return b.String()
}
