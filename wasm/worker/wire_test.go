package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/core/wiretest"
	"edgetable/testdata/edge/workerd"
	"edgetable/testdata/needs"
)

// TestWire plays the corpus of recorded requests in the module, under Node.js.
func TestWire(t *testing.T) {
	t.Parallel()
	module := os.Getenv("EDGETABLE_CORPUS_MODULE") // a module to compare with, instead of a new build
	if module == "" {
		module = build(t, "", "corpus")
	}
	playCorpus(t, startNode(t, "instances.mjs", module), wiretest.Dialect{})
}

// TestWireKV plays the corpus of recorded requests in the module for tables that are only in Workers KV.
func TestWireKV(t *testing.T) {
	t.Parallel()
	playCorpus(t, startNode(t, "kvscenes.mjs", build(t, "kv", "corpus")), wiretest.Dialect{
		Tokens: true, Ascending: true, TooLong: []string{"keys-refused/26"}, // documented in adapters/store/workerskv
		Others: []string{"order/22"}, // the order is refused before the table is looked up
	})
}

func build(t testing.TB, variant string, tags ...string) string {
	t.Helper()
	needs.These(t, needs.Edge)
	module, err := workerd.Module(variant, tags...)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func playCorpus(t *testing.T, n *node, dialect wiretest.Dialect) {
	t.Run("corpus", func(t *testing.T) {
		wiretest.RunScenes(t, dialect, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
			number := n.ask(t, []byte("n"+strings.Join(directives, "\n")))
			t.Cleanup(func() { n.ask(t, append([]byte("d"), number...)) })
			return func(r *wiretest.Request) (*wiretest.Response, error) {
				m := append([]byte("t"), number...)
				m = binary.LittleEndian.AppendUint64(m, uint64(clock.Now()))
				return parseResponse(n.ask(t, append(m, encode(r)...)), r.Method)
			}
		})
	})
}

// node is a Node.js process that runs instances of the module.
type node struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

func startNode(t testing.TB, script, module string) *node {
	t.Helper()
	needs.These(t, needs.Edge)
	program, err := workerd.Node()
	if err != nil {
		t.Fatal(err)
	}
	script, err = filepath.Abs("../../testdata/edge/" + script)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, script, module)
	c.Stderr = workerd.Log(t)
	in, err := c.StdinPipe() // closing this pipe ends the process
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait() // the process ends because its input was closed
	})
	return &node{in: in, out: bufio.NewReader(out)}
}

// ask sends a message to the process and returns the answer.
func (n *node) ask(t testing.TB, m []byte) []byte {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := n.in.Write(frames(nil).add(m)); err != nil {
		t.Fatal(err)
	}
	var size [4]byte
	if _, err := io.ReadFull(n.out, size[:]); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, binary.LittleEndian.Uint32(size[:]))
	if _, err := io.ReadFull(n.out, answer); err != nil {
		t.Fatal(err)
	}
	return answer
}
