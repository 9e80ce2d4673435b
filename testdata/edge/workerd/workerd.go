// Package workerd runs the Worker and its Durable Objects in workerd, the runtime of Cloudflare Workers, for tests.
package workerd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Options configure a [Server]. Only Data is required.
type Options struct {
	// Listen is the address of the Worker; "" means a free port on loopback.
	Listen string
	// Data is the folder in which the objects store their rows.
	Data string
	// KV makes the Worker store its tables in Workers KV instead of Durable Objects. Data is then the folder of KV's data.
	KV bool
	// Module is the folder with the wasm module and the JavaScript around it; "" means that Start builds them.
	Module string
	// Env is added to the environment of the process. The Worker gets the variables that begin with EDGETABLE_.
	Env []string
	// Log receives what the Worker logs; nil discards it.
	Log io.Writer
}

// Server is a running workerd.
type Server struct {
	Worker  string // URL of the Worker
	objects string // URL at which tests call the Durable Objects

	cmd  *exec.Cmd
	life io.Closer
}

// Start builds the Worker, starts it, and returns when the Worker accepts requests.
func Start(o Options) (*Server, error) {
	script, err := find("testdata/edge/start")
	if err != nil {
		return nil, err
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Module == "" {
		build := built
		if o.KV {
			build = builtKV
		}
		if o.Module, err = build(); err != nil {
			return nil, err
		}
	}
	s := &Server{cmd: exec.Command(script, o.Listen, o.Data, o.Module)}
	s.cmd.Env = append(os.Environ(), o.Env...)
	if o.KV {
		s.cmd.Env = append(s.cmd.Env, "EDGETABLE_EDGE_STORE=kv")
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // in its own process group, so that Kill also kills workerd
	s.cmd.Stderr = o.Log
	if s.life, err = s.cmd.StdinPipe(); err != nil { // a process that runs until this pipe is closed
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	ready := func() bool { return s.objects != "" || o.KV && s.Worker != "" }
	for !ready() && lines.Scan() {
		switch name, url, _ := strings.Cut(lines.Text(), " "); name {
		case "worker":
			s.Worker = url
		case "objects":
			s.objects = url
		}
	}
	if !ready() {
		s.Stop()
		err := fmt.Errorf("workerd did not start: %v", s.cmd.ProcessState)
		if log, ok := o.Log.(fmt.Stringer); ok {
			text := log.String()
			err = fmt.Errorf("%w\n…%s", err, text[max(0, len(text)-3000):])
		}
		return nil, err
	}
	return s, nil
}

// built and builtKV build the module for the first server of a process; its other servers use the same.
var (
	built   = sync.OnceValues(func() (string, error) { return Module("") })
	builtKV = sync.OnceValues(func() (string, error) { return Module("kv") })
)

// Stop ends the server.
func (s *Server) Stop() {
	s.life.Close()
	_ = s.cmd.Wait() // Wait returns when the process has ended, which happens because its standard input is closed
}

// Kill ends the processes of the server as a power failure would.
func (s *Server) Kill() error {
	err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait() // an error is ignored, because it only says that the process was killed
	return err
}

// Module builds the wasm module with the JavaScript around it, and returns their folder. The variant is "kv" or empty; tags
// are build tags of Go.
func Module(variant string, tags ...string) (string, error) {
	script, err := find("wasm/worker/build")
	if err != nil {
		return "", err
	}
	var arguments []string
	if variant != "" {
		arguments = append(arguments, variant)
	}
	if len(tags) > 0 { // these options replace the script's own tag, which is the variant
		if variant != "" {
			tags = append(tags, variant)
		}
		arguments = append(arguments, "-tags", strings.Join(tags, ","))
	}
	c := exec.Command(script, arguments...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// Node returns the path of Node.js, version 22 or newer, and installs it if necessary.
func Node() (string, error) {
	script, err := find("testdata/edge/packages")
	if err != nil {
		return "", err
	}
	c := exec.Command(script)
	c.Stderr = os.Stderr
	out, err := c.Output()
	node, _, _ := strings.Cut(string(out), "\n")
	return node, err
}

// find returns the path of a file of the repository. Tests run in the folder of their package.
func find(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if file := filepath.Join(dir, name); exists(file) {
			return file, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New(name + " is not above the working directory")
		}
		dir = parent
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
