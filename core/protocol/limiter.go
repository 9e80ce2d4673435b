package protocol

import "time"

// Limits holds rate limits. A request above a limit fails with ServerBusy. A field that is nil sets no limit.
type Limits struct {
	// Account limits the operations per account. Each operation of a batch counts separately.
	Account Limiter
	// Partition limits the writes and point reads (reads of one entity by its keys) per partition.
	Partition Limiter
	// Failures limits the failed sign-ins per client address. A request from an address above the limit is refused
	// before the server computes a signature.
	Failures Limiter
}

// Limiter holds a token bucket for each key; see [throttle.Buckets].
type Limiter interface {
	// Take takes n tokens from the token bucket of a key and returns 0. If fewer tokens are available, Take takes none
	// and returns the time until n tokens are available.
	Take(key string, n int) (wait time.Duration)
	// Charge takes n tokens for work that is already done, even if fewer tokens are available.
	Charge(key string, n int)
	// Peek returns the time until one token is available. It takes no token.
	Peek(key string) (wait time.Duration)
}
