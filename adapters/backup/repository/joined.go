package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/edm"
)

// The log pieces of each period joinWindow are joined when joinAfter has passed since the end of the period. By then,
// secondaries have read the pieces.
const joinWindow, joinAfter = time.Hour, 5 * time.Minute

// maxJoined limits the stored size of a joined log piece. maxJoinedLength limits its size before compression. A reader
// needs memory for the whole piece.
const maxJoined, maxJoinedLength = 32 << 20, 64 << 20

// Joined counts the results of [Repository.Join].
type Joined struct {
	Pieces  int // number of log pieces that were joined into larger pieces
	Objects int // number of joined pieces that were written
}

// Join joins the log pieces of each past hour into larger pieces. It ignores pieces that begin before the parameter
// start. An interrupted Join can be repeated.
func (r *Repository) Join(ctx context.Context, start, now time.Time) (done Joined, err error) {
	list, err := r.Pieces(ctx, "")
	if err != nil {
		return done, err
	}
	recent := slices.DeleteFunc(slices.Clone(list), func(p Piece) bool { return p.From.Time().Before(start) })
	for _, group := range groups(recent, now) {
		if err := r.join(ctx, &done, list, group); errors.Is(err, fs.ErrNotExist) {
			continue // a prune removed a log piece after it was listed
		} else if err != nil {
			return done, err
		}
	}
	return done, nil
}

// groups returns the groups of log pieces to join, each sorted by commit number.
func groups(list []Piece, now time.Time) (all [][]Piece) {
	hour := func(p *Piece) time.Time { return p.From.Time().Truncate(joinWindow) }
	for i := 0; i < len(list); {
		first := &list[i]
		n := i + 1
		for n < len(list) && list[n].Timeline == first.Timeline && hour(&list[n]).Equal(hour(first)) {
			n++
		}
		part := list[i:n]
		i = n
		if now.Sub(hour(first).Add(joinWindow)) < joinAfter {
			continue
		}
		part = slices.DeleteFunc(slices.Clone(part), func(p Piece) bool { return now.Sub(p.To.Time()) < joinAfter })
		for len(part) > 0 {
			line, _ := chain(part, part[0].Timeline, part[0].From, edm.MaxDateTime)
			end := line[len(line)-1].To
			size := int64(0)
			var group []Piece
			for _, p := range line {
				if size += p.Size; size > maxJoined && len(group) > 0 {
					all, group, size = append(all, group), nil, p.Size
				}
				group = append(group, p)
			}
			all = append(all, group)
			part = slices.DeleteFunc(part, func(p Piece) bool { return p.From < end }) // log pieces after a gap form the next group
		}
	}
	return slices.DeleteFunc(all, func(g []Piece) bool { return len(g) < 2 })
}

// join joins a group of log pieces into as few objects as possible. An object has a size limit, and all pieces in an
// object have the same term.
func (r *Repository) join(ctx context.Context, done *Joined, list, group []Piece) error {
	j := joining{r: r, done: done, list: list}
	for i := range group {
		b, err := r.objects.Get(ctx, group[i].object())
		if err != nil {
			return err
		}
		p, packed, err := openPiece(&group[i], b)
		if err != nil {
			return nil // a damaged log piece remains unchanged, so that it can be examined
		}
		if len(p.Parts) == 0 {
			if err := j.add(ctx, i, &p, b); err != nil {
				return err
			}
			continue
		}
		for _, size := range p.Parts {
			if size <= 0 || size > int64(len(packed)) {
				return nil
			}
			part, _, err := parseObject(packed[:size])
			if err != nil {
				return nil
			}
			if err := j.add(ctx, i, &part, packed[:size]); err != nil {
				return err
			}
			packed = packed[size:]
		}
	}
	return j.store(ctx)
}

// joining is a joined log piece that is being built.
type joining struct {
	r      *Repository
	done   *Joined
	list   []Piece // all log pieces of the backup location
	joined Piece
	from   int          // index, in the group, of the first object whose log pieces the joined piece contains
	last   int          // index, in the group, of the last object whose log pieces the joined piece contains
	bytes  bytes.Buffer // contents of the log pieces that the joined piece contains
}

// add adds a log piece to the joined piece. If both cannot be in one object, add stores the joined piece and begins
// another one. The parameter object is the index of the object that contains p.
func (j *joining) add(ctx context.Context, object int, p *Piece, b []byte) error {
	if n := len(j.joined.Parts); n > 0 && (p.Term != j.joined.Term || p.StartsLog || j.joined.Length+p.Length > maxJoinedLength) {
		if err := j.store(ctx); err != nil {
			return err
		}
	}
	to := &j.joined
	if len(to.Parts) == 0 {
		*to = Piece{Timeline: p.Timeline, Term: p.Term, From: p.From, StartsLog: p.StartsLog}
		j.from = object
	}
	j.last = object
	to.To, to.Synced = p.To, p.Synced
	to.Commits += p.Commits
	to.Length += p.Length
	to.Parts = append(to.Parts, int64(len(b)))
	if len(to.Recipients) == 0 {
		to.Recipients = p.Recipients
	}
	j.bytes.Write(b)
	return nil
}

// store stores the joined log piece, and then deletes the pieces that it contains.
func (j *joining) store(ctx context.Context) error {
	p := j.joined
	packed := slices.Clone(j.bytes.Bytes())
	j.joined = Piece{}
	j.bytes.Reset()
	if j.from == j.last { // a single object needs no joining
		return nil
	}
	head, err := json.Marshal(&p)
	if err != nil {
		return err
	}
	rest := append(append(head, '\n'), packed...)
	sum := sha256.Sum256(rest)
	if err := j.r.objects.Put(ctx, p.object(), append([]byte(seal.Line(pieceKind, joinedForm, sum[:])+"\n"), rest...)); err != nil {
		return err
	}
	j.done.Objects++
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletions)
	for i := range j.list {
		if old := &j.list[i]; old.Timeline == p.Timeline && old.From >= p.From && old.To <= p.To && old.object() != p.object() {
			j.done.Pieces++
			g.Go(func() error { return j.r.objects.Delete(ctx, old.object()) })
		}
	}
	return g.Wait()
}
