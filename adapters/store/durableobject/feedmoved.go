package durableobject

import (
	"bytes"
	"errors"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// pendingCommit is a commit of the page whose entities have moved to other ranges and must be read from there.
type pendingCommit struct {
	message.FeedItem
	commit int            // index of the commit in the page
	line   message.Object // the range whose feed contains the commit
	part   int            // how many changes of the commit the client already has
}

const (
	// If an entity of a commit has moved, resolve reads the entity from its new range. For one page, it sends at most
	// mostLooked messages, in at most lookRounds rounds.
	mostLooked = 8
	lookRounds = 3
)

// understandsParts is the Key of each item in OpLook. It tells the receiver that the sender understands parts of
// commits: see [message.FeedItem].
var understandsParts = []byte{1}

// resolve reads the entities of pending commits from their new ranges. The page ends before a commit whose entities
// cannot be read or are too large.
func (f *feedReading) resolve() error {
	name, calls := f.table.String(), 0
	for round := 0; len(f.others) > 0 && round < lookRounds; round++ {
		groups := make(map[message.Object][]pendingCommit)
		var order []message.Destination
		for _, c := range f.others {
			p := f.objectOfKey(name, c.Key)
			o := message.Object{Bucket: p.Bucket, Range: p.Range}
			if groups[o] == nil {
				order = append(order, p)
			}
			groups[o] = append(groups[o], c)
		}
		f.others = nil
		for _, p := range order {
			group := groups[message.Object{Bucket: p.Bucket, Range: p.Range}]
			if calls++; calls > mostLooked || calls > 1 && f.r.Bytes > 0 && f.size >= f.r.Bytes {
				f.others = append(f.others, group...)
				continue
			}
			if err := f.fetchMoved(p, group); err != nil {
				return err
			}
		}
		if f.divided.Part > 0 { // the page ends with this commit
			f.others = slices.DeleteFunc(f.others, func(c pendingCommit) bool { return c.commit > f.divided.commit })
		}
	}
	return f.endBefore(f.others)
}

// endBefore ends the page before the first of the given commits. If the page has only a part of an earlier commit, it
// ends the page after this part.
func (f *feedReading) endBefore(others []pendingCommit) error {
	page, first := &f.page, len(f.page.Commits)
	for _, c := range others {
		first = min(first, c.commit)
	}
	if first < len(page.Commits) {
		if first == 0 {
			return table.ErrBusy
		}
		page.Commits, page.More = page.Commits[:first], true
		page.Next.At = page.Commits[first-1].At
	}
	if d := f.divided; d.Part > 0 && d.commit < first {
		c := &page.Commits[d.commit]
		c.At = positionInside(c.At, d.line, d.Ticks, d.Part)
		page.Commits, page.More = page.Commits[:d.commit+1], true
		page.Next.At = c.At
	}
	return nil
}

// fetchMoved asks a range for the entities of a group of commits. If the range does not return an entity of a commit,
// fetchMoved adds the commit to f.others again.
func (f *feedReading) fetchMoved(p message.Destination, group []pendingCommit) error {
	r, err := f.Store.sendToRange(f.ctx, p, group[0].Key, func(p *message.Destination) []byte {
		m := message.Look(nil, p, f.incarnation, group[0].Key, f.r.Within)
		for i := range group {
			item := message.FeedItem{Kind: message.FeedElsewhere, Ticks: group[i].Ticks, Line: group[i].Line, Key: understandsParts}
			if item.Part = group[i].part; item.Part > 0 {
				item.Kind = message.FeedPart
			}
			m = message.AppendFeedItem(m, &item)
		}
		return m
	})
	_, moved := errors.AsType[*message.MovedError](err)
	switch {
	case errors.Is(err, table.ErrNoTable) || moved: // the table was dropped, and its entities are gone
		return nil
	case errors.Is(err, table.ErrBusy):
		f.others = append(f.others, group...)
		return nil
	case err != nil:
		return err
	}
	for _, c := range group {
		item := r.FeedItem()
		switch n := len(item.Changes); {
		case !r.OK() || !item.IsCommit() || item.Ticks != c.Ticks || n > len(c.Changes) || n < len(c.Changes) && n > 0 && item.Part == 0:
			return message.ErrDamaged
		case n == 0: // the answer was full before this commit
			f.others = append(f.others, c)
			continue
		case item.Part > 0 && (f.divided.Part == 0 || c.commit < f.divided.commit):
			f.divided = c
			f.divided.Part = item.Part
		}
		f.size += sizeOf(item.Changes) - sizeOf(f.page.Commits[c.commit].Changes)
		f.page.Commits[c.commit].Changes = item.Changes
		if item.IsElsewhere() {
			c.Key = bytes.Clone(item.Key)
			f.others = append(f.others, c)
		}
	}
	if !r.Done() {
		return message.ErrDamaged
	}
	return nil
}
