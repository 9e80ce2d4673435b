package protocol

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"edgetable/core/table"
	"edgetable/core/throttle"
)

var _ Limiter = (*throttle.Buckets)(nil)

// checkAccess applies the rate limits and the gate to an operation. The caller sets a.Entities and, if all entities are
// in one partition, a.PartitionKey and a.HasPartition.
func (c *call) checkAccess(ctx context.Context, a Access) error {
	if c.Limits.Account == nil && c.Limits.Partition == nil && c.Gate == nil {
		return nil
	}
	return c.checkLimits(ctx, a)
}

// checkLimits is separate from admit, so that the Access escapes to the heap only if there is a limit or a gate.
func (c *call) checkLimits(ctx context.Context, a Access) error {
	a.Account, a.Table = c.address.Account, c.route.Table
	a.Operation, a.Write = c.operation.name, c.operation.write
	if err := c.rate(c.Limits.Account, a.Account, a.Entities, RefusedAccountRate, "Operations per second is over the account limit."); err != nil {
		return err
	}
	if a.HasPartition {
		partition := throttle.Key(a.Account + "/" + table.FoldName(a.Table) + "/" + a.PartitionKey)
		if err := c.rate(c.Limits.Partition, partition, a.Entities, RefusedPartitionRate, "Operations per second is over the limit of the partition."); err != nil {
			return err
		}
	}
	if c.Gate == nil {
		return nil
	}
	err := c.Gate.Admit(ctx, &a)
	if errors.Is(err, ErrCutAfter) {
		c.resp.Disconnect = true
		return nil
	}
	c.resp.Disconnect = errors.Is(err, ErrCut)
	return err
}

// rate takes n tokens from a token bucket. It returns ServerBusy if fewer tokens are available.
func (x *exchange) rate(b Limiter, key string, n int, why Refusal, message string) error {
	if b == nil {
		return nil
	}
	return x.serverBusy(b.Take(key, n), why, message)
}

// serverBusy returns ServerBusy with the given time to wait before a retry. It returns nil if this time is 0.
func (x *exchange) serverBusy(wait time.Duration, why Refusal, message string) error {
	if wait <= 0 {
		return nil
	}
	x.retryAfter, x.resp.Refused = wait, why
	return table.ServerBusy.With(message)
}

func (x *exchange) countFailure() {
	if b := x.Limits.Failures; b != nil {
		b.Charge(sourceKey(x.req.Source), 1) // unlike Take, Charge counts the failure even if no token is available
	}
}

// refuseAfterFailures returns ServerBusy if the client's address has too many failed sign-ins.
func (x *exchange) refuseAfterFailures() error {
	b := x.Limits.Failures
	if b == nil {
		return nil
	}
	return x.serverBusy(b.Peek(sourceKey(x.req.Source)), RefusedFailures, "Too many requests from this address could not be authenticated. Retry later with a valid key.")
}

// sourceKey returns the key of the token bucket for a client: its IPv4 address,
// or the /64 network of its IPv6 address.
func sourceKey(a netip.Addr) string {
	a = a.Unmap()
	b := a.As16()
	if a.Is4() || !a.IsValid() {
		return string(b[:])
	}
	return string(b[:8])
}
