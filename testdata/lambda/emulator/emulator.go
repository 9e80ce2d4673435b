// Package emulator runs a Lambda function under AWS's Runtime Interface Emulator.
package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"time"
)

// Emulator is a running function. It serves one event at a time.
type Emulator struct {
	url  string
	cmd  *exec.Cmd
	log  io.Writer
	done chan struct{} // closed when the process has ended
	err  error
}

// Options configures an [Emulator].
type Options struct {
	Emulator, Function string   // paths of the emulator's program and of the function's program
	Env                []string // environment of the function
	Log                io.Writer
}

// Start starts an emulator. The function itself starts with the first event.
func Start(ctx context.Context, o Options) (*Emulator, error) {
	public, err := free()
	if err != nil {
		return nil, err
	}
	private, err := free()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(o.Emulator, "--runtime-interface-emulator-address", public, "--runtime-api-address", private, "--log-level", "error", o.Function)
	cmd.Env = o.Env
	cmd.Stdout, cmd.Stderr = o.Log, o.Log
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &Emulator{
		url: "http://" + public + "/2015-03-31/functions/function/invocations",
		cmd: cmd, log: o.Log, done: make(chan struct{}),
	}
	go func() {
		e.err = cmd.Wait()
		close(e.done)
	}()
	// On a busy machine, the emulator may accept events before it is connected to the function. The function would
	// then end, and the connection of the event would be closed. So wait until both addresses accept connections.
	for _, address := range []string{public, private} {
		if err := e.listens(ctx, address); err != nil {
			e.Stop()
			return nil, err
		}
	}
	return e, nil
}

// listens waits until the emulator accepts connections on an address.
func (e *Emulator) listens(ctx context.Context, address string) error {
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-e.done:
			return fmt.Errorf("the emulator has ended: %w%s", e.err, e.said())
		case <-ctx.Done():
			return fmt.Errorf("the emulator does not listen on %s: %w%s", address, ctx.Err(), e.said())
		}
	}
}

func (e *Emulator) said() string {
	log, ok := e.log.(fmt.Stringer)
	if !ok {
		return ""
	}
	text := log.String()
	return "\n…" + text[max(0, len(text)-3000):]
}

// Invoke passes an event to the function and returns its response.
func (e *Emulator) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(event))
	if err != nil {
		return nil, err
	}
	req.Close = true // use a new connection for each event: the emulator may close an idle one just when the next event is sent
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		select {
		case <-e.done:
			return nil, fmt.Errorf("%w; the emulator has ended: %v", err, e.err)
		case <-time.After(time.Second): // wait a moment, because the request may fail just before the end of the emulator closes the channel e.done
			return nil, fmt.Errorf("%w; the emulator lives", err)
		}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || bytes.HasPrefix(answer, []byte(`{"errorMessage":`))) {
		err = fmt.Errorf("the function failed with %d: %.1000s", resp.StatusCode, answer)
	}
	return answer, err
}

// Stop ends the emulator and its function.
func (e *Emulator) Stop() {
	endGroup(e.cmd)
	<-e.done
}

// free returns an address with an unused port. The host is a loopback address that nobody else uses: on 127.0.0.1,
// another process could take the port before the emulator listens on it.
func free() (string, error) {
	n := rand.Uint32()
	host := netip.AddrFrom4([4]byte{127, byte(n>>16) | 1, byte(n >> 8), byte(n) | 1})
	l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(host, 0)))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Pool runs several emulators of one function, as Lambda runs several instances of a function.
type Pool struct {
	idle chan *Emulator
	all  []*Emulator
}

// StartPool starts n emulators.
func StartPool(ctx context.Context, n int, o Options) (*Pool, error) {
	p := &Pool{idle: make(chan *Emulator, n)}
	for range n {
		e, err := Start(ctx, o)
		if err != nil {
			p.Stop()
			return nil, err
		}
		p.all = append(p.all, e)
		p.idle <- e
	}
	return p, nil
}

// Invoke passes an event to an idle emulator.
func (p *Pool) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	select {
	case e := <-p.idle:
		defer func() { p.idle <- e }()
		// The emulator cannot cancel an invocation: the invocation continues even if the caller disconnects.
		return e.Invoke(context.WithoutCancel(ctx), event)
	case <-ctx.Done():
		return nil, errors.New("all functions are busy")
	}
}

// Stop ends all emulators of the pool.
func (p *Pool) Stop() {
	for _, e := range p.all {
		e.Stop()
	}
}
