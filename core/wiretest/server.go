package wiretest

import (
	"context"

	"edgetable/core/protocol"
	"edgetable/core/wiretest/scene"
)

// Start is what a server's clock shows before the first exchange.
var Start = scene.Start

// Clock is a clock that is set by hand. Its zero value shows [Start].
type Clock = scene.Clock

// The account of most scenarios and its well-known key, which the others have
// as their first.
const (
	Account    = scene.Account
	AccountKey = scene.AccountKey
)

// NewHandler makes the server of a scenario: empty, over the reference store.
func NewHandler(clock *Clock) *protocol.Handler {
	h, err := newHandler(clock, nil)
	if err != nil {
		panic(err) // there are no directives
	}
	return h
}

// newHandler makes a server as the directives of a transcript want it.
func newHandler(clock *Clock, directives []string) (*protocol.Handler, error) {
	return scene.New(clock, directives, context.WithTimeout)
}
