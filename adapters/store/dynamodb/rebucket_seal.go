package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/core/table"
)

// step changes the record of a run under way. A copy of the update that arrives
// late must not fulfil its condition.
func (m *mover) step(ctx context.Context, c *change, done func(*move) bool) error {
	for n := 0; ; n++ {
		err := m.change(ctx, c)
		if err == nil {
			m.beaten = m.elapsed()
			return nil
		}
		if k := classOf(err); k != conditional && k != ambiguous {
			return outcome(err)
		}
		r, readErr := m.tableRecord(ctx, m.name)
		switch {
		case errors.Is(readErr, table.ErrNoTable):
			return fmt.Errorf("the table was deleted: %w", readErr)
		case readErr != nil:
			return readErr
		}
		if e := m.mine(r); e != nil {
			return e
		}
		if done(&r.move) {
			m.beaten = m.elapsed()
			return nil
		}
		if n == maxRepeats || !m.pause(ctx, n) {
			return outcome(err)
		}
	}
}

// seal raises the seal by one.
func (m *mover) seal(ctx context.Context, to seal) error {
	m.beat++
	c := newChange()
	m.condition(&c.condition)
	c.condition.write(" AND ")
	if to == closing {
		c.condition.missing(attrSeal)
	} else {
		c.condition.compare(attrSeal, " = ", ":w", num(int(to-1)))
	}
	c.update.write("SET ")
	c.update.compare(attrSeal, " = ", ":x", num(int(to)))
	c.update.write(", ")
	c.update.compare(attrBeat, " = ", ":y", num(m.beat))
	return m.step(ctx, c, func(now *move) bool { return now.seal == to })
}

// alive shows once a second that the run which sealed the table lives.
func (m *mover) alive(ctx context.Context) error {
	if m.elapsed()-m.beaten < time.Second {
		return nil
	}
	m.beat++
	c := newChange()
	m.condition(&c.condition)
	c.condition.write(" AND ")
	c.condition.compare(attrBeat, " < ", ":y", num(m.beat))
	c.update.write("SET ")
	c.update.compare(attrBeat, " = ", ":y", num(m.beat))
	return m.step(ctx, c, func(now *move) bool { return now.beat >= m.beat })
}

// release lets writes in again, and ends the run. What fails here is done by those
// whose writes are refused.
func (m *mover) release(ctx context.Context) {
	c := newChange()
	m.condition(&c.condition)
	c.update.remove(attrSeal, attrBeat, attrOwner)
	_ = m.change(ctx, c)
}
