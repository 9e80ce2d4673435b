package suite

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

// stopGrace is how long a child process may take to end after SIGTERM before it is killed.
const stopGrace = 15 * time.Second

// child is a server under test, a process that this program starts and ends.
type child struct {
	name   string
	target wire.Target
	cmd    *exec.Cmd
	log    string // file with the child's output
	done   chan struct{}
	err    error         // result of Wait; valid once done is closed
	ready  time.Duration // time from just before the start to the first response
}

// spawn starts the command line argv, and waits until the server at target answers a signed request. ctx limits
// only this wait.
func spawn(ctx context.Context, name, logDir string, target wire.Target, ready func(context.Context) error, argv ...string) (*child, error) {
	c := &child{name: name, target: target, log: filepath.Join(logDir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own file descriptor of the log
	c.cmd = exec.Command(argv[0], argv[1:]...)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.Dir = out, out, logDir
	start := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	if err := c.await(ctx, ready); err != nil {
		c.kill()
		return nil, fmt.Errorf("%s: %w\n%s", name, err, c.tail())
	}
	c.ready = time.Since(start)
	return c, nil
}

// await calls the function ready every millisecond until the call succeeds. The interval is short, because the time
// to start is measured.
func (c *child) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, wire.Timeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		if last = ready(ctx); last == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("ended before it answered (%v): %w", c.err, last)
		case <-ctx.Done():
			return fmt.Errorf("did not answer: %w", last)
		case <-tick.C:
		}
	}
}

// answers returns a function that fails unless the server responds to a signed Query Tables request.
func answers(t wire.Target) func(context.Context) error {
	return func(ctx context.Context) error { return load.Ping(ctx, t) }
}

func listens(t wire.Target) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := wire.Dial(ctx, t)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// stop ends the child with SIGTERM, or with SIGKILL if SIGTERM does not end the child in time. It returns an error
// if the child had already ended, or if SIGKILL was needed.
func (c *child) stop() error {
	return c.end(syscall.SIGTERM)
}

// kill simulates a crash of the child. It is no error if the child has already ended.
func (c *child) kill() { _ = c.end(syscall.SIGKILL) }

func (c *child) end(sig syscall.Signal) error {
	select {
	case <-c.done:
		return fmt.Errorf("%s had ended by itself (%v)\n%s", c.name, c.err, c.tail())
	default:
	}
	_ = c.cmd.Process.Signal(sig) // an error means that the process has ended, which Wait reports
	select {
	case <-c.done:
	case <-time.After(stopGrace):
		_ = c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("%s did not end within %v of %v", c.name, stopGrace, sig)
	}
	return nil
}

// tail returns the end of the child's output, for error messages.
func (c *child) tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return ""
	}
	return string(b[max(0, len(b)-1000):])
}

// freeTarget returns a target on a free loopback port, with the development account.
func freeTarget() (wire.Target, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return wire.Target{}, err
	}
	defer ln.Close()
	return wire.NewTarget("http://"+ln.Addr().String()+"/"+accounts.Development, wire.Development(accounts.Development))
}

// rss returns the current resident memory in bytes, or 0 if /proc does not have it.
func (c *child) rss() int64 { return statusField(c.cmd.Process.Pid, "VmRSS:") }

func statusField(pid int, name string) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// cpuTicks returns the processor time used so far in kernel ticks (10 ms), or 0 if /proc does not have it.
func (c *child) cpuTicks() int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second field is the name in parentheses, which may contain blanks; utime and stime are the 14th and 15th.
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return user + system
}

// cpu returns the processor time used so far in nanoseconds, or 0 if /proc does not have it.
func (c *child) cpu() (sum time.Duration) {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/task/*/schedstat")
	if err != nil {
		return 0
	}
	for _, name := range threads {
		if b, err := os.ReadFile(name); err == nil {
			text, _, _ := strings.Cut(string(b), " ")
			n, _ := strconv.ParseInt(text, 10, 64)
			sum += time.Duration(n)
		}
	}
	if sum == 0 { // the kernel does not provide these counters
		return time.Duration(c.cpuTicks()) * 10 * time.Millisecond
	}
	return sum
}

// settle waits until the child processes are idle, without compactions or garbage collection. The parameter limit
// is the maximum time of the wait. Without the wait, the remaining work after one measurement would slow the next
// measurement of another server.
func settle(ctx context.Context, limit time.Duration, children ...*child) {
	end := time.After(limit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := int64(-1)
	for {
		var sum int64
		for _, c := range children {
			sum += c.cpuTicks()
		}
		if last >= 0 && sum-last <= 1 {
			return
		}
		last = sum
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-tick.C:
		}
	}
}

// ceiling reports whether the child is a ceiling server: a server that does as little as possible. Other children
// are table servers.
func (c *child) ceiling() bool { return strings.HasPrefix(c.name, ceilingPrefix) }
