package durableobject_test

import (
	"context"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
)

// TestAbsent has many concurrent callers ask for a table that does not exist: each
// bucket asks the catalog once per caller, and one answer is valid for all.
func TestAbsent(t *testing.T) {
	t.Parallel()
	const many = 100
	c := newCloud(t, newClock().now)
	n := c.node(durableobject.Bucket(tableText, 1, 0, ""))
	m := message.Get(nil, &message.Place{Table: tableText, Buckets: 1}, at("p", "r"))
	var asked [many]*engine.Resume
	for i := range asked {
		step := c.step(n, m, nil)
		asked[i] = &engine.Resume{State: step.State, Answers: c.deliver(context.Background(), step.Calls, nil)}
	}
	for i, resume := range asked {
		step := c.step(n, m, resume)
		if len(step.Calls) > 0 || message.StatusOf(step.Answer) != message.StatusNoTable {
			t.Fatalf("message %d of %d asks again, or gets another answer: %+v", i, many, step)
		}
	}
}
