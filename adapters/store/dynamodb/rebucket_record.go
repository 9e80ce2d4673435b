package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// What a run writes into the record of the table. All of it is conditional on what
// the record says, so that a run that is over, or slow, changes nothing any more.

// change makes a change of the record, perhaps several times.
func (m *mover) change(ctx context.Context, c *change) error {
	return m.repeat(ctx, func(ctx context.Context) error { return m.updateRecord(ctx, m.name, c) })
}

// claim makes the run the one that moves the table.
func (m *mover) claim(ctx context.Context) error {
	fresh := life{incarnation: m.newIncarnation(), buckets: m.Buckets}
	for n := 0; ; n++ {
		r, err := m.tableRecord(ctx, m.name)
		if err != nil {
			return err
		}
		m.from, m.to = r.life, r.move.target
		c := newChange()
		c.condition.compare(attrRevision, " = ", ":r", str(string(r.Revision)))
		c.condition.write(" AND ")
		c.update.write("SET ")
		c.update.compare(attrOwner, " = ", ":q", str(m.owner))
		switch {
		case r.move.owner == m.owner:
			return nil // it was claimed, the reply was lost
		case r.move.none() && r.life.buckets == m.Buckets:
			m.State = RebucketUnchanged
			return nil
		case r.move.none():
			m.to = fresh
			c.condition.missing(attrTarget)
			c.update.write(", ")
			c.update.compare(attrTarget, " = ", ":a", bin(fresh.incarnation[:]))
			c.update.write(", ")
			c.update.compare(attrSpread, " = ", ":h", num(fresh.buckets))
		case r.move.target.buckets != m.Buckets:
			return &UnfinishedError{r.move.target.buckets}
		default:
			c.condition.compare(attrTarget, " = ", ":a", bin(m.to.incarnation[:]))
			c.condition.write(" AND ")
			if r.move.owner == "" {
				c.condition.missing(attrOwner)
			} else {
				c.condition.compare(attrOwner, " = ", ":o", str(r.move.owner))
			}
			c.update.remove(attrSeal, attrBeat)
		}
		if err = m.change(ctx, c); err == nil {
			return nil
		}
		if k := classOf(err); k != conditional && k != ambiguous || n == maxRepeats || !m.pause(ctx, n) {
			return outcome(err)
		}
	}
}

func (s *Store) newIncarnation() (i table.Incarnation) {
	v := s.newVersion()
	copy(i[:], v[:])
	return i
}

// mine is what makes the record another's; nil if it is the run's.
func (m *mover) mine(r *record) error {
	switch {
	case r.life == m.to:
		return ErrSuperseded
	case r.life != m.from:
		return fmt.Errorf("the table was deleted: %w", table.ErrNoTable)
	case r.move.target != m.to:
		return ErrAborted
	case r.move.owner == "":
		return ErrSilent
	case r.move.owner != m.owner:
		return ErrSuperseded
	}
	return nil
}

// lost is why a condition on the record failed; nil if it does not fail now.
func (m *mover) lost(ctx context.Context) error {
	r, err := m.tableRecord(ctx, m.name)
	if errors.Is(err, table.ErrNoTable) {
		return fmt.Errorf("the table was deleted: %w", err)
	}
	if err != nil {
		return err
	}
	return m.mine(r)
}

// condition writes that the table moves, and by this run.
func (m *mover) condition(e *expression) {
	e.compare(attrIncarnation, " = ", ":i", bin(m.from.incarnation[:]))
	e.write(" AND ")
	e.compare(attrTarget, " = ", ":a", bin(m.to.incarnation[:]))
	e.write(" AND ")
	e.compare(attrOwner, " = ", ":q", str(m.owner))
}

// moved writes the end of a run, in one transaction with a note of what is left
// over: there is nothing that points to it but this.
func (s *Store) moved(ctx context.Context, name table.RecordKey, c *change, left life) error {
	put := types.TransactWriteItem{Update: &types.Update{
		TableName: s.table, Key: documentKey(name),
		UpdateExpression: c.update.String(), ConditionExpression: c.condition.String(),
		ExpressionAttributeNames: c.update.names, ExpressionAttributeValues: c.update.values,
	}}
	note := s.notePurge(&record{Record: table.Record{Key: name}}, left)
	for n := 0; ; n++ {
		err := s.transact(ctx, []types.TransactWriteItem{put, note})
		if err == nil || classOf(err) != busy || n == maxRepeats || !s.pause(ctx, n) {
			return err
		}
	}
}

// flip makes the copy the table.
func (m *mover) flip(ctx context.Context) error {
	c := newChange()
	m.condition(&c.condition)
	c.condition.write(" AND ")
	c.condition.compare(attrSeal, " = ", ":x", num(int(last)))
	c.update.write("SET ")
	c.update.name(attrOrigin)
	c.update.write(" = if_not_exists(")
	c.update.name(attrOrigin)
	c.update.write(", ")
	c.update.value(":i", bin(m.from.incarnation[:]))
	c.update.write("), ")
	c.update.compare(attrIncarnation, " = ", ":t", bin(m.to.incarnation[:]))
	c.update.write(", ")
	c.update.compare(attrBuckets, " = ", ":k", num(m.to.buckets))
	c.update.write(", ")
	c.update.compare(attrRevision, " = ", ":r", str(string(m.newRevision())))
	c.update.remove(attrTarget, attrSpread, attrOwner, attrSeal, attrBeat)
	err := m.moved(ctx, m.name, c, m.from)
	m.forget(m.name)
	if k := classOf(err); err == nil || k != cancelled && k != ambiguous {
		return outcome(err)
	}
	r, readErr := m.tableRecord(ctx, m.name)
	if readErr == nil && r.life == m.to {
		return nil // the reply was lost
	}
	if readErr == nil {
		readErr = m.mine(r)
	}
	return errors.Join(outcome(err), readErr)
}

// abortRebucket gives up what a run has copied.
func (s *Store) abortRebucket(ctx context.Context, name table.RecordKey, report func(RebucketProgress) error) error {
	for n := 0; ; n++ {
		r, err := s.tableRecord(ctx, name)
		if err != nil {
			return err
		}
		if r.move.none() {
			state := RebucketUnchanged
			if n > 0 {
				state = RebucketAborted // the reply was lost, or somebody else did it
			}
			return report(RebucketProgress{State: state})
		}
		c := newChange()
		c.condition.compare(attrTarget, " = ", ":a", bin(r.move.target.incarnation[:]))
		c.condition.write(" AND ")
		c.condition.compare(attrIncarnation, " = ", ":i", bin(r.life.incarnation[:]))
		c.update.write("SET ") // so that no claim from before comes after it
		c.update.compare(attrRevision, " = ", ":r", str(string(s.newRevision())))
		c.update.remove(attrTarget, attrSpread, attrOwner, attrSeal, attrBeat)
		err = s.moved(ctx, name, c, r.move.target)
		switch k := classOf(err); {
		case err == nil:
			return report(RebucketProgress{State: RebucketAborted})
		case k != cancelled && k != ambiguous || n == maxRepeats || !s.pause(ctx, n):
			return outcome(err)
		}
	}
}
