package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/core/edm"
)

// LogReport is the result of [Repository.VerifyLog].
type LogReport struct {
	Pieces  int
	Commits int
	Bytes   int64 // total size of the objects in bytes
	Locked  int   // number of log pieces that are encrypted for keys that were not given
	// Ranges are the moments that can be restored without damaged log pieces. Damage to backups is not considered.
	Ranges Ranges
	// Problems are sentences about damaged objects and unexplained gaps.
	Problems []string
	// Known describes gaps that the server recorded when it discarded logs that it could not ship. A later backup
	// contains the missing commits.
	Known []string
	// Notes are sentences about objects that no restore of the newest history uses, and about backups that do not name
	// their history.
	Notes []string
}

// VerifyLog reads the whole log, and reports each damaged log piece and each gap. It decrypts the pieces if
// identities are given.
func (r *Repository) VerifyLog(ctx context.Context, with []age.Identity, progress func(done, total int64)) (*LogReport, error) {
	report := new(LogReport)
	timelines, err := r.Timelines(ctx)
	if err != nil {
		return nil, err
	}
	for i := range timelines {
		if t := &timelines[i]; t.damage != nil {
			report.Problems = append(report.Problems, fmt.Sprintf("%s is damaged: %v", t.object(), t.damage))
		}
	}
	list, err := r.Pieces(ctx, "")
	if err != nil {
		return nil, err
	}
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	lost, err := r.strayed(ctx, timelines, all.Complete, list)
	if err != nil {
		return nil, err
	}
	for _, stray := range lost {
		report.Problems = append(report.Problems, stray.Error())
	}
	read, err := r.verifyPieces(ctx, report, list, with, progress)
	if err != nil {
		return nil, err
	}
	if err := r.gaps(ctx, report, all.Complete, timelines, list, read); err != nil {
		return nil, err
	}
	report.noteUnusable(all, timelines, list)
	slices.Sort(report.Problems)
	return report, nil
}

// verifyPieces reads the log pieces, several at a time, and reports the damaged ones. The result has an empty element
// for each damaged piece.
func (r *Repository) verifyPieces(ctx context.Context, report *LogReport, list []Piece, with []age.Identity, progress func(done, total int64)) ([]Piece, error) {
	var total, done int64
	for i := range list {
		total += list[i].Size
	}
	read := make([]Piece, len(list))
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for i := range list {
		g.Go(func() error {
			p, err := r.verifyPiece(gctx, &list[i], with)
			if gctx.Err() != nil {
				return gctx.Err()
			}
			if errors.Is(err, fs.ErrPermission) { // this is not damage, because another user may be able to read the object
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if report.count(&list[i], &p, err) {
				read[i] = p
			}
			done += list[i].Size
			progress(done, total)
			return nil
		})
	}
	return read, g.Wait()
}

// verifyPiece reads a log piece. It decrypts and unpacks the piece if this needs no identities, or if identities are given.
func (r *Repository) verifyPiece(ctx context.Context, listed *Piece, with []age.Identity) (Piece, error) {
	p, packed, err := r.checkPiece(ctx, listed)
	if err == nil && (len(p.Recipients) == 0 || len(with) > 0) {
		if _, err = p.unpack(packed, with); err != nil {
			err = &DamagedPiece{listed.object(), err}
		}
	}
	return p, err
}

// count adds a log piece and the error of verifyPiece to the report. It reports whether the piece is undamaged; a
// missing key is not damage.
func (report *LogReport) count(listed, p *Piece, err error) (undamaged bool) {
	if encryption.IsLocked(err) {
		report.Locked++
		err = nil
	}
	if err != nil {
		what := "cannot be read"
		if d, damaged := errors.AsType[*DamagedPiece](err); damaged {
			what, err = "is damaged", d.Cause
		}
		report.Problems = append(report.Problems, fmt.Sprintf("%s (the log after %s, up to %s) %s: %v", listed.object(), listed.From, listed.To, what, err))
		return false
	}
	report.Pieces++
	report.Commits += p.Commits
	report.Bytes += p.Size
	return true
}

// gaps reports the gaps of each timeline. Damaged log pieces were already reported.
func (r *Repository) gaps(ctx context.Context, report *LogReport, backups []*Manifest, timelines []Timeline, list, read []Piece) error {
	pruned, err := r.pruned(ctx)
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err != nil {
		report.Problems = append(report.Problems, err.Error())
	}
	for _, t := range timelines {
		var at edm.Ticks // commit number up to which the log of the timeline is complete
		for _, m := range slices.Backward(backups) {
			if m.Log != nil && m.Log.Timeline == t.ID && m.Log.Low >= pruned {
				at = m.Log.Low // the loop ends with the oldest backup, so the log is checked from the oldest backup on
			}
		}
		if t.Parent != "" && t.ForkedAt >= pruned && t.ForkedAt > 0 {
			at = t.ForkedAt
		}
		last := new(Piece)
		for i := range list {
			if list[i].Timeline != t.ID {
				continue
			}
			if ProvesCopies(last.Synced, last.Term, &read[i]) {
				report.Problems = append(report.Problems, fmt.Sprintf("two servers with copies of one data directory have shipped their logs with the same --timeline ID %s: after %s, the log has the writes of both servers", t.ID, list[i].From))
			}
			if read[i].Term.Number > 0 {
				last = &read[i]
			}
			if at > 0 && list[i].From > at {
				gap := (&Gap{t.ID, at, list[i].From}).Error()
				if read[i].StartsLog {
					report.Known = append(report.Known, gap)
				} else {
					report.Problems = append(report.Problems, gap)
				}
			}
			at = max(at, list[i].To)
		}
	}
	damaged := map[string]bool{}
	for i := range list {
		damaged[list[i].object()] = read[i].Timeline == ""
	}
	switch h, err := r.historyOf(ctx, ""); {
	case err == nil:
		h.pieces = slices.DeleteFunc(h.pieces, func(p Piece) bool { return damaged[p.object()] })
		report.Ranges = h.ranges()
	case !errors.Is(err, ErrNoLog) && !errors.Is(err, ErrNone):
		report.Problems = append(report.Problems, err.Error())
	}
	return nil
}

// noteUnusable adds notes about backups outside the newest timeline and its ancestors, and about log pieces that no
// restore can use.
func (report *LogReport) noteUnusable(all *Backups, timelines []Timeline, list []Piece) {
	if len(timelines) == 0 {
		return
	}
	newest := timelines[len(timelines)-1].ID
	h := history{pieces: list}
	var err error
	if h.line, err = lineOf(timelines, newest); err != nil {
		return // the error is already in Problems
	}
	unnamed := 0
	on, off := h.split(all.Complete)
	for _, m := range on {
		if m.history() == nil {
			unnamed++
		}
	}
	if unnamed > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("%d backups do not record to which log they belong: they were made before the log was shipped, or by an earlier version of edgetable", unnamed))
	}
	for _, m := range off {
		report.Notes = append(report.Notes, fmt.Sprintf("backup %s of %s is not from the store that wrote last to this backup location, so it does not count as one of the newest backups", m.ID, m.From))
	}
	begins := func(timeline string, from, to edm.Ticks) bool {
		return slices.ContainsFunc(all.Complete, func(m *Manifest) bool {
			return m.Log != nil && m.Log.Timeline == timeline && from <= m.Log.Low && m.Log.Low <= to
		})
	}
	reaches, led := map[string]edm.Ticks{}, 0
	for _, t := range timelines {
		if t.ForkedAt > 0 && (reaches[t.Parent] >= t.ForkedAt || begins(t.Parent, t.ForkedAt, t.ForkedAt)) {
			reaches[t.ID] = t.ForkedAt
		}
		for i := range list {
			p := &list[i]
			if p.Timeline != t.ID {
				continue
			}
			if begins(t.ID, p.From, p.To) || reaches[t.ID] > 0 && p.From <= reaches[t.ID] {
				reaches[t.ID] = max(reaches[t.ID], p.To)
				led++
			}
		}
	}
	if n := len(list) - led; n > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("no restore can use %d pieces of the log: there is a gap between them and every earlier backup", n))
	}
	shipped := slices.ContainsFunc(list, func(p Piece) bool { return p.Timeline == newest })
	if shipped && reaches[newest] == 0 && len(all.Unfinished) == 0 {
		report.Problems = append(report.Problems, fmt.Sprintf("the newest log, with the --timeline ID %s, cannot be restored: it cannot be applied to any backup", newest))
	}
}
