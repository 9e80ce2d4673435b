package protocol

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"edgetable/core/table"
	"edgetable/core/throttle"
)

// Limits are rates beyond which requests are answered with ServerBusy. Nil
// fields do not limit.
type Limits struct {
	// Account counts the operations of each account, those of a batch each.
	Account Limiter
	// Partition counts the entities each partition is asked to write or read by
	// key.
	Partition Limiter
	// Failures counts what could not be authenticated by where it came from. A
	// source over its limit is refused before any signature is computed.
	Failures Limiter
}

// Limiter has a bucket of tokens for each key, as [throttle.Buckets] does.
type Limiter interface {
	// Take takes n tokens of a key and returns 0, or it takes nothing and returns
	// after how long that many could be taken.
	Take(key string, n int) (wait time.Duration)
	// Peek returns after how long one token could be taken, and takes nothing.
	Peek(key string) (wait time.Duration)
}

var _ Limiter = (*throttle.Buckets)(nil)

// admit asks the limits and the gate for what is about to be done.
func (x *exchange) admit(ctx context.Context, a Access) error {
	if x.Limits.Account == nil && x.Limits.Partition == nil && x.Gate == nil {
		return nil
	}
	return x.ask(ctx, a)
}

// ask is apart from admit so that what is asked is on the heap only where there
// is somebody to ask.
func (x *exchange) ask(ctx context.Context, a Access) error {
	a.Account = x.address.account
	if err := x.rate(x.Limits.Account, a.Account, a.Entities, "Operations per second is over the account limit."); err != nil {
		return err
	}
	if a.HasPartition {
		partition := bucketKey(a.Account + "/" + table.FoldName(a.Table) + "/" + a.PartitionKey)
		if err := x.rate(x.Limits.Partition, partition, a.Entities, "Operations per second is over the limit of the partition."); err != nil {
			return err
		}
	}
	if x.Gate == nil {
		return nil
	}
	err := x.Gate.Admit(ctx, &a)
	if errors.Is(err, ErrCutAfter) {
		x.resp.Cut = true
		return nil
	}
	x.resp.Cut = errors.Is(err, ErrCut)
	return err
}

// maxBucketKey is how many bytes of a name a bucket keeps.
const maxBucketKey = 128

// bucketKey is a name, of a long one its beginning and a hash. A bucket keeps
// its key, and nobody has looked yet whether a table or an entity may be called
// so: names of megabytes would fill the memory. Two that meet share a bucket;
// they are of one account, and nothing is gained by it.
func bucketKey(name string) string {
	if len(name) <= maxBucketKey {
		return name
	}
	hash := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	b := append(make([]byte, 0, maxBucketKey), name[:maxBucketKey-8]...)
	return string(binary.BigEndian.AppendUint64(b, hash))
}

// rate takes n from a bucket.
func (x *exchange) rate(b Limiter, key string, n int, message string) error {
	if b == nil {
		return nil
	}
	return x.busy(b.Take(key, n), message)
}

// busy is ServerBusy with the time to wait, or nil if there is none.
func (x *exchange) busy(wait time.Duration, message string) error {
	if wait <= 0 {
		return nil
	}
	x.retryAfter = wait
	return table.ServerBusy.With(message)
}

// strike counts an authentication that failed, and suspect refuses where there
// were too many.
func (x *exchange) strike() {
	if b := x.Limits.Failures; b != nil {
		b.Take(sourceKey(x.req.Source), 1)
	}
}

func (x *exchange) suspect() error {
	b := x.Limits.Failures
	if b == nil {
		return nil
	}
	return x.busy(b.Peek(sourceKey(x.req.Source)), "Too many requests from this address could not be authenticated. Retry later, with the right key.")
}

// sourceKey is what addresses of one sender have in common: of IPv6 the network.
func sourceKey(a netip.Addr) string {
	a = a.Unmap()
	b := a.As16()
	if a.Is4() || !a.IsValid() {
		return string(b[:])
	}
	return string(b[:8])
}
