package listing

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/telling"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// mostAsked is the maximum number of objects that the catalog calls to answer one message. The platform's free plan
// permits 50 calls.
const mostAsked = 20

// Feeds answers with the objects that have the feed of a table and, if ends is set, with the end of the feed in some of
// them.
func Feeds(t *turn.Turn, rec *record.Record, from int, ends bool) turn.Step {
	switch {
	case !rec.IsTable() || rec.Deleting:
		return t.Fail(table.ErrNoTable)
	case !rec.Traits.Feeds():
		return t.Fail(table.ErrNoFeed)
	}
	list, err := objects(t, rec)
	if err != nil {
		return t.Fail(err)
	}
	m := mapOf(rec, list)
	if !ends {
		return turn.Step{Answer: message.AppendFeedMap(t.Dst, m)}
	}
	part := list[min(from, len(list)):min(from+mostAsked, len(list))]
	before := &t.Resumed
	if before.Kind == turn.Ends && before.Incarnation == rec.Incarnation && slices.Equal(before.Objects, part) && len(t.Answers) == len(part) {
		if m.Ranges, m.Done = endsOf(t, part); m.Ranges == nil && len(part) > 0 {
			return t.Fail(table.ErrBusy)
		}
		return turn.Step{Answer: message.AppendFeedMap(t.Dst, m)}
	}
	next := &turn.Continuation{Kind: turn.Ends, Incarnation: rec.Incarnation, Objects: part}
	if before.Kind == turn.Ends {
		next.Round = before.Round + 1
	}
	if next.Round >= turn.Rounds {
		return t.Fail(table.ErrBusy)
	}
	step := turn.Step{Next: next}
	to := message.Destination{Table: rec.Key.String(), Buckets: rec.Layout.Buckets, Location: rec.Layout.Location}
	q := message.FeedQuestion{Life: rec.Incarnation, From: message.FeedEnd, ManyRanges: message.HasManyRanges(len(list))}
	for _, o := range part {
		to.Bucket, to.Range = o.Bucket, o.Range
		step.Calls = append(step.Calls, telling.Calls(rec, []message.Object{o}, message.Lines(nil, &to, &q))...)
	}
	return step
}

// endsOf returns the positions at the end of the feed from the answers of the objects, or nil if a position is missing.
func endsOf(t *turn.Turn, part []message.Object) (list []message.FeedRange, left []message.Object) {
	for i, o := range part {
		r, err := message.Result(t.Answers[i].Message)
		a := r.FeedAnswer()
		if t.Answers[i].Err != nil || err != nil || !r.Done() {
			return nil, nil
		}
		for _, id := range a.Parents {
			left = append(left, message.Object{Bucket: o.Bucket, Range: id})
		}
		switch {
		case a.State == message.FeedKept:
			list = append(list, message.FeedRange{Object: o, At: a.Next})
		case a.State == message.FeedAbsent && o.Range == 0: // the object has never received a write
			list = append(list, message.FeedRange{Object: o, At: message.FeedBegin})
		default:
			return nil, nil
		}
	}
	return list, left
}

// mapOf returns the FeedMap of the given objects. The FeedMap begins at the oldest line of each object.
func mapOf(rec *record.Record, list []message.Object) *message.FeedMap {
	m := &message.FeedMap{Life: rec.Incarnation, Layout: rec.Layout, All: len(list)}
	sum := fnv.New64a()
	for _, o := range list {
		sum.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, o.Bucket), o.Range)) // the method Write of a hash never returns an error
		m.Ranges = append(m.Ranges, message.FeedRange{Object: o, At: message.FeedOldest})
	}
	m.Sum = sum.Sum64()
	return m
}

// Life answers whether an incarnation of a table exists, was dropped, or was replaced by a restore.
func Life(t *turn.Turn) turn.Step {
	key, incarnation := t.Fields.Text(), t.Fields.Incarnation()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	rec, err := record.Load(t.Rows, key)
	said := message.LifeEnded
	switch {
	case err != nil:
		return t.Fail(err)
	case rec.Restoring:
		return t.Fail(table.ErrBusy)
	case !rec.IsTable():
	case rec.Incarnation == incarnation && !rec.Deleting && !rec.Traits.Feeds():
		return t.Fail(table.ErrNoFeed)
	case rec.Incarnation == incarnation && !rec.Deleting:
		list, err := objects(t, &rec)
		if err != nil {
			return t.Fail(err)
		}
		answer := message.AppendFeedMap(t.Dst, mapOf(&rec, list))
		return turn.Step{Answer: append(answer, message.LifeLive)}
	default:
		for _, c := range restoring.ChangesOf(t.Rows, key, 0) {
			if c.Restored && c.OldIncarnation == incarnation {
				said = message.LifeRestored
			}
		}
	}
	answer := message.AppendFeedMap(t.Dst, &message.FeedMap{Layout: rec.Layout})
	return turn.Step{Answer: append(answer, said)}
}
