package workerd_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"edgetable/testdata/edge/workerd"
	"edgetable/testdata/proc"
)

// acme is the setting with the account of the tests' requests.
const acme = "EDGETABLE_ACCOUNTS=acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ="

// servers are the servers that several tests use, by their settings. To start one takes seconds of a processor. Each test
// has places of its own, or tables whose names no other test uses.
type servers struct {
	mu  sync.Mutex
	all map[string]*workerd.Server
	log proc.Buffer
}

var shared servers

// start returns the server with these settings. The first call starts it.
func (s *servers) start(env ...string) (*workerd.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := strings.Join(env, " ")
	if running := s.all[settings]; running != nil {
		return running, nil
	}
	folder, err := os.MkdirTemp(data, "objects")
	if err != nil {
		return nil, err
	}
	started, err := workerd.Start(workerd.Options{Data: folder, Log: workerd.Causes(&s.log), Env: append(env, acme)})
	if err != nil {
		return nil, err
	}
	if s.all == nil {
		s.all = map[string]*workerd.Server{}
	}
	s.all[settings] = started
	return started, nil
}

func (s *servers) stop() {
	for _, running := range s.all {
		running.Stop()
	}
	if resting.server != nil {
		resting.server.Stop()
	}
}

// sharing returns the server with these settings that tests share. A test that counts the server's instances or messages,
// or ends the server, needs one of its own.
func sharing(t *testing.T, env ...string) *workerd.Server {
	t.Helper()
	s, err := shared.start(env...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
