package wiretest

import (
	"context"

	"edgetable/core/protocol"
	"edgetable/core/wiretest/scene"
)

// Start is the time of a server's clock before the first exchange.
var Start = scene.Start

// Clock is a clock that is set by hand. Its zero value shows [Start].
type Clock = scene.Clock

// Account is the account of most scenarios. AccountKey is its well-known key,
// which is also the first key of the other accounts.
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

// newHandler makes a server with the directives of a transcript.
func newHandler(clock *Clock, directives []string) (*protocol.Handler, error) {
	return scene.New(clock, directives, context.WithTimeout)
}
