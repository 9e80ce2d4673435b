package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// cloud simulates DynamoDB. Some time after DynamoDB has found an expired item, it deletes the item. If the
// field looksAgain is true, cloud checks the expiry again at the time of the deletion. Otherwise it deletes
// the item even if the item has no expiry any more.
type cloud struct {
	looksAgain bool
	items      map[int]bool      // by item: true if the item has an expiry
	doomed     map[int]time.Time // time at which each item will be deleted
	fail       int               // number of calls up to and including the call that fails
}

func (c *cloud) pass() error {
	for id, at := range c.doomed {
		if time.Now().After(at) {
			if expires, ok := c.items[id]; ok && (expires || !c.looksAgain) {
				delete(c.items, id)
			}
			delete(c.doomed, id)
		}
	}
	if c.fail--; c.fail == 0 {
		return errors.New("no network")
	}
	return nil
}

func (c *cloud) Put(_ context.Context, id int) error {
	if err := c.pass(); err != nil {
		return err
	}
	c.items[id], c.doomed[id] = true, time.Now().Add(time.Hour+time.Duration(id%7)*time.Minute)
	return nil
}

func (c *cloud) Again(_ context.Context, id int) (there bool, err error) {
	if err := c.pass(); err != nil {
		return false, err
	}
	if _, there = c.items[id]; there {
		c.items[id] = false
	}
	return there, nil
}

func (c *cloud) Missing(_ context.Context, ids []int) (missing []int, err error) {
	for _, id := range ids {
		if _, there := c.items[id]; !there {
			missing = append(missing, id)
		}
	}
	return missing, c.pass()
}

// TestExperiment checks that the experiment finds out whether DynamoDB checks the expiry again before it
// deletes an item, even if the experiment is interrupted. If no items were deleted at all, the experiment
// must give no answer.
func TestExperiment(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		looksAgain bool
		longest    time.Duration
		fail       int
		say        string
	}{
		{true, 24 * time.Hour, 0, "it looks at the attribute again"},
		{false, 24 * time.Hour, 0, "TTL must not be used"},
		{true, 24 * time.Hour, 700, "it looks at the attribute again"},
		{false, 24 * time.Hour, 700, "TTL must not be used"},
		{true, time.Minute, 0, "This shows nothing"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &cloud{looksAgain: x.looksAgain, items: make(map[int]bool), doomed: make(map[int]time.Time), fail: x.fail}
			file := filepath.Join(t.TempDir(), "state")
			p := plan{Items: 500, Writing: 48 * time.Hour, Longest: x.longest, Rest: 12 * time.Hour}
			for runs := 1; ; runs++ {
				e, err := resume(file, p)
				if err != nil {
					t.Fatal(err)
				}
				found, err := e.run(t.Context(), c)
				if err := e.log.Close(); err != nil {
					t.Fatal(err)
				}
				if err != nil && runs == 1 && x.fail > 0 {
					continue
				}
				if err != nil || !strings.Contains(found.String(), x.say) || found.Gone+found.Kept != p.Items {
					t.Errorf("looks again: %v, in run %d: %v\n%v", x.looksAgain, runs, err, found)
				}
				break
			}
		})
	}
}
