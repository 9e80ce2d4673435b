package admission

import (
	"context"
	"errors"
	"io"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// visit is a request at work. It gives its place to others while it waits for its
// body.
type visit struct {
	io.Reader // the body
	ctx       context.Context
	places    *places
	req       *protocol.Request
	turn      turn // of the place that it has; refused: none
	waited    time.Duration
	busy      bool // it got no place again
}

// arrived reports whether a body can be read without a wait for the client.
func arrived(body io.Reader) bool {
	switch b := body.(type) {
	case nil:
		return true
	case interface{ Arrived() bool }:
		return b.Arrived()
	case interface{ Bytes() []byte }:
		return true
	}
	return false
}

// Read reads the body without a place, and takes one again at its end. A client that
// sends slowly or nothing keeps no other request from its turn.
func (v *visit) Read(p []byte) (int, error) {
	if v.busy {
		return 0, table.ServerBusy.Err()
	}
	v.leave()
	n, err := v.Reader.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	begin := time.Now()
	v.turn = v.places.admit(v.ctx, v.req)
	v.waited += time.Since(begin)
	if v.busy = v.turn == refused; v.busy {
		return 0, table.ServerBusy.Err()
	}
	return n, err
}

// leave gives the place back, if the request has one.
func (v *visit) leave() {
	if v.turn != refused {
		v.places.leave(v.turn)
		v.turn = refused
	}
}
