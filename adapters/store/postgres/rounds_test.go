package postgres

import (
	"context"
	"edgetable/adapters/store/postgres/lend"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestReturn checks how long the next round waits after a slow round, whose callers often
// write again. The next round must begin when all callers have written, or after a
// fraction of the duration of the slow round, but at most after the time slowRound.
func TestReturn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		took          time.Duration
		answered      int
		again         int           // number of callers of the slow transaction (round) that write again at once
		after         time.Duration // wait before the next transaction (round) begins; 0 means that it begins at once
		others, their int           // for another slow round (a transaction) that ends meanwhile: number of callers, and number of callers that write again
	}{
		{"a fast round", slowRound - 1, 3, 1, 0, 0, 0},
		{"all write again", 16 * time.Millisecond, 3, 3, 0, 0, 0},
		{"one is missing", 16 * time.Millisecond, 3, 2, 2 * time.Millisecond, 0, 0},
		{"a commit of 4 ms", 4 * time.Millisecond, 3, 1, time.Millisecond / 2, 0, 0},
		{"a lock", 2 * time.Second, 3, 1, slowRound, 0, 0},
		{"two rounds", 8 * time.Millisecond, 3, 3, 0, 2, 2},
		{"two rounds, one is missing", 8 * time.Millisecond, 3, 3, time.Millisecond, 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Store{connections: lend.ForReplica(2)} // this Lender lends no connection to a round (a transaction), so each round keeps waiting
				s.Timeout = time.Hour
				s.ctx, s.stop = context.WithCancel(t.Context())
				begun := func() bool {
					synctest.Wait()
					_, waiting := s.connections.Waiting(lend.Rounds)
					return waiting > 0
				}
				s.awaitReturn(tt.answered, tt.took)
				s.awaitReturn(tt.others, tt.took)
				for i := range tt.again + tt.their {
					if i > 0 && tt.after == 0 && tt.took >= slowRound && begun() {
						t.Errorf("the round begins with %d of %d writes", i, tt.again+tt.their)
					}
					s.send(&write{name: "table/acct/people", key: []byte(strconv.Itoa(i))})
				}
				if tt.after > 0 {
					time.Sleep(tt.after - time.Nanosecond)
					if begun() {
						t.Error("the round begins too early")
					}
					time.Sleep(time.Nanosecond)
				}
				if !begun() {
					t.Error("the round does not begin")
				}
				s.stop()
				s.background.Wait()
			})
		})
	}
}
