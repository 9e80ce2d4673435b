package protocol

import "time"

// Limits holds rate limits. A request above a limit gets the error ServerBusy. A nil field means no limit.
type Limits struct {
	// Account limits the operations of each account. Each operation of a batch counts separately.
	Account Limiter
	// Partition limits the writes of entities and the point reads (reads of one entity by its keys) in each partition.
	Partition Limiter
	// Failures limits the failed sign-ins from each client address. A request from an address above this
	// limit is refused before the server computes a signature.
	Failures Limiter
}

// Limiter has a token bucket for each key, as [throttle.Buckets] does.
type Limiter interface {
	// Take takes n tokens from the bucket of a key and returns 0. If the bucket has fewer tokens, Take takes
	// no token, and returns the time until the bucket has n tokens.
	Take(key string, n int) (wait time.Duration)
	// Charge takes n tokens for work that is already done, even if the bucket has fewer tokens.
	Charge(key string, n int)
	// Peek returns the time until the bucket has one token. It takes no token.
	Peek(key string) (wait time.Duration)
}
