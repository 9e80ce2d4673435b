package wiretest

import (
	"context"

	"edgetable/core/protocol"
	"edgetable/core/wiretest/scene"
)

// Start is what the server's clock shows before the first exchange.
var Start = scene.Start

// Clock is a clock that is set by hand. The zero Clock shows [Start].
type Clock = scene.Clock

// Account is the account of most scenarios. AccountKey is its well-known key, and the first key of all other accounts
// too.
const (
	Account    = scene.Account
	AccountKey = scene.AccountKey
)

// NewHandler returns the server of a scenario: empty, over the reference store.
func NewHandler(clock *Clock) *protocol.Handler {
	h, err := newHandler(clock, nil)
	if err != nil {
		panic(err) // cannot happen: only directives can be invalid
	}
	return h
}

// newHandler returns a server configured by a transcript's directives.
func newHandler(clock *Clock, directives []string) (*protocol.Handler, error) {
	return scene.New(clock, directives, context.WithTimeout)
}
