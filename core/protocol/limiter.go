package protocol

import "time"

// Limits holds rate limits. A request above a limit gets ServerBusy. A nil
// field does not limit.
type Limits struct {
	// Account limits the operations of each account. Each operation of a batch
	// counts.
	Account Limiter
	// Partition limits the entities written or read by key in each partition.
	Partition Limiter
	// Failures limits the failed authentications from each source. A source
	// above its limit is refused before the server computes a signature.
	Failures Limiter
}

// Limiter has a token bucket for each key, as [throttle.Buckets] does.
type Limiter interface {
	// Take takes n tokens of a key and returns 0. If there are fewer tokens, it
	// takes none and returns the time until there are n.
	Take(key string, n int) (wait time.Duration)
	// Charge takes n tokens for work that is already done, even if there are fewer.
	Charge(key string, n int)
	// Peek returns the time until there is one token, and takes none.
	Peek(key string) (wait time.Duration)
}
