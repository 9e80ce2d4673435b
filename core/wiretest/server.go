package wiretest

import (
	"context"

	"edgetable/core/protocol"
	"edgetable/core/wiretest/scene"
)

// Start is the time of the server's clock before the first exchange.
var Start = scene.Start

// Clock is a clock that a test sets. The zero Clock shows [Start].
type Clock = scene.Clock

// Account is the account of most scenarios. AccountKey is its well-known key, which is also the first key of all
// other accounts.
const (
	Account    = scene.Account
	AccountKey = scene.AccountKey
)

// NewHandler returns the server for a scenario without directives. The server uses a new, empty reference store.
func NewHandler(clock *Clock) *protocol.Handler {
	h, err := newHandler(clock, nil)
	if err != nil {
		panic(err) // cannot happen: without directives there is no error
	}
	return h
}

func newHandler(clock *Clock, directives []string) (*protocol.Handler, error) {
	return scene.New(clock, directives, context.WithTimeout)
}
