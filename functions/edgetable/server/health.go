package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/replicate/follow"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

const readyTimeout = 2 * time.Second

const well = "ok\n"

// health serves /_/live and /_/ready without authentication. "_" cannot be the name of an account.
type health struct {
	check func(ctx context.Context) error // function that performs an operation on the store
	fresh time.Duration                   // time for which the result of a check is cached
	log   *slog.Logger

	draining atomic.Bool // if true, /_/ready fails, so that load balancers send no more requests

	mu     sync.Mutex
	at     time.Time // end of the last check
	err    error     // result of the last check
	ending chan struct{}
}

func (h *health) answer(req *protocol.Request) protocol.Response {
	path, _, _ := strings.Cut(req.Target, "?")
	status, text := h.state(path)
	return protocol.Response{Status: status, Header: []protocol.Field{{Name: "Content-Type", Value: "text/plain"}}, Body: []byte(text)}
}

func (h *health) state(path string) (status int, text string) {
	switch path {
	case "/_/live":
		return http.StatusOK, well
	case "/_/ready":
		if h.draining.Load() {
			return http.StatusServiceUnavailable, "the server is stopping\n"
		}
		switch err := h.ready(); {
		case errors.Is(err, table.ErrFull):
			return http.StatusServiceUnavailable, "the " + whatIsFull(err) + " is full: writes are refused; deletes work while there is room for them\n"
		case errors.Is(err, repository.ErrReplaced):
			return http.StatusServiceUnavailable, "another store has replaced this one; the log says how to make it the primary again\n"
		case errors.Is(err, follow.ErrUnbuilt):
			return http.StatusServiceUnavailable, "the store of the secondary is being built\n"
		case errors.Is(err, follow.ErrBehind):
			return http.StatusServiceUnavailable, "the secondary lags too far behind\n"
		case refusal(err) != "":
			return http.StatusServiceUnavailable, "writes are refused, and reads work: " + refusal(err) + "\n"
		case err != nil:
			return http.StatusServiceUnavailable, "the store has failed; the log has the cause\n"
		}
		return http.StatusOK, well
	}
	return http.StatusNotFound, "unknown path: the paths are /_/live and /_/ready\n"
}

var errSlowStore = errors.New("no answer within " + cli.ShowDuration(readyTimeout))

// ready returns the result of a recent check, or runs a check. Only one check runs at a time, because clients need no
// authentication to request one.
func (h *health) ready() error {
	h.mu.Lock()
	if h.ending == nil {
		if !h.at.IsZero() && time.Since(h.at) < h.fresh {
			defer h.mu.Unlock()
			return h.err
		}
		h.ending = make(chan struct{})
		go h.run(h.ending)
	}
	ending := h.ending
	h.mu.Unlock()
	select {
	case <-ending:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err
	case <-time.After(readyTimeout):
		return errSlowStore
	}
}

func (h *health) run(ending chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	err := h.check(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	full, was := errors.Is(err, table.ErrFull), errors.Is(h.err, table.ErrFull)
	refused, wasRefused := refusal(err), refusal(h.err)
	switch {
	case refused != "":
		if refused != wasRefused {
			h.log.Warn("not ready: writes are refused, and reads work", "why", refused)
		}
	case err == nil && wasRefused != "":
		h.log.Info("ready again: writes are accepted")
	case full && !was:
		h.log.Warn("not ready, because the " + whatIsFull(err) + " is full: writes are refused, deletes work while there is room for them")
	case errors.Is(err, follow.ErrBehind), errors.Is(err, repository.ErrReplaced):
		if h.err == nil {
			h.log.Warn("not ready", "cause", err)
		}
	case err == nil && errors.Is(h.err, repository.ErrReplaced):
		h.log.Info("ready: the store is the primary again")
	case err == nil && errors.Is(h.err, follow.ErrBehind):
		h.log.Info("ready: the secondary follows again")
	case err != nil && !full && (h.err == nil || was || wasRefused != ""):
		h.log.Error("the store has failed", "cause", err)
	case err == nil && was:
		h.log.Info("ready again: there is room on the " + whatIsFull(h.err))
	case err == nil && h.err != nil:
		h.log.Info("the store works again")
	}
	h.at, h.err, h.ending = time.Now(), err, nil
	close(ending)
}

// refusal returns the reason why a store is read-only. It returns "" if err has another cause.
func refusal(err error) string {
	if r, ok := errors.AsType[refuser](err); ok {
		return r.RefusesWrites()
	}
	return ""
}

// refuser is implemented by the errors of a read-only store.
type refuser interface {
	error
	RefusesWrites() (reason string)
}

// whatIsFull returns the name of the resource that is full according to err.
func whatIsFull(err error) string {
	if errors.Is(err, table.ErrMemoryFull) {
		return "memory for tables"
	}
	return "disk"
}

// wait waits for a running check. It must be called before the store is closed.
func (h *health) wait() {
	h.mu.Lock()
	ending := h.ending
	h.mu.Unlock()
	if ending != nil {
		<-ending
	}
}
