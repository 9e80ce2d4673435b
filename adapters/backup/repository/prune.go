package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/core/objects"
)

// Pruning says what [Repository.Prune] removes.
type Pruning struct {
	Keep   Keep
	Remove []string // further backups by name, also unfinished and damaged ones
	DryRun bool     // only report
	Now    time.Time
}

// Pruned is what [Repository.Prune] has removed.
type Pruned struct {
	Removed  []string // backups
	Kept     int
	Objects  int
	Bytes    int64 // of the objects
	Pieces   int   // of the log
	LogBytes int64 // of them
	// Unfinished are backups that run or were interrupted. While there are any, objects
	// stay.
	Unfinished []*Manifest
}

// Prune removes backups, and then the objects that no backup needs. Package
// repository describes why this is safe at any time. A prune that was interrupted is
// completed by the next one.
func (r *Repository) Prune(ctx context.Context, p Pruning) (*Pruned, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range p.Remove {
		if !all.has(id) {
			return nil, fmt.Errorf("there is no backup %s", id)
		}
	}
	done := &Pruned{Removed: slices.Clone(p.Remove)}
	for _, d := range all.Damaged {
		if d.ID != "" && !slices.Contains(p.Remove, d.ID) {
			return nil, fmt.Errorf("%s is damaged (%w): nothing was removed, because it is unknown which objects it needs; put the file back, or remove this backup with --remove %s", d.Object, d.Cause, d.ID)
		}
	}
	l, err := r.newestLine(ctx)
	if err != nil {
		return nil, fmt.Errorf("nothing was removed, because it is unknown which backups belong to the newest store: %w", err)
	}
	_, remove := p.Keep.split(&l, all.Complete, p.Now)
	for _, m := range remove {
		if !slices.Contains(p.Remove, m.ID) {
			done.Removed = append(done.Removed, m.ID)
		}
	}
	slices.Sort(done.Removed)
	for _, id := range done.Removed {
		// A complete backup has all if its run was killed at its end; with the last one
		// alone it is still complete.
		for _, dir := range []string{runDir, nameDir, backupDir} {
			if p.DryRun {
				continue
			}
			if err := r.objects.Delete(ctx, dir+id); err != nil {
				return nil, err
			}
		}
	}
	if err := r.collect(ctx, done, p.DryRun); err != nil {
		return done, err
	}
	left, err := r.List(ctx)
	if err != nil {
		return done, err
	}
	stay, _ := l.split(slices.DeleteFunc(left.Complete, func(m *Manifest) bool { return slices.Contains(done.Removed, m.ID) }))
	return done, r.pruneLog(ctx, done, stay, p)
}

// Abandon removes runs of [Repository.Create] that nobody will continue, so that they hold no objects. The next
// prune removes what they stored.
func (r *Repository) Abandon(ctx context.Context, ids ...string) (err error) {
	for _, id := range ids {
		err = errors.Join(err, r.objects.Delete(ctx, runDir+id))
	}
	return err
}

func (b *Backups) has(id string) bool {
	return find(b.Complete, id) != nil || find(b.Unfinished, id) != nil ||
		slices.ContainsFunc(b.Damaged, func(d Damaged) bool { return d.ID == id })
}

// deletions is the number of objects that are deleted at once.
const deletions = 16

// collect deletes the objects that no manifest names. The order of its steps matters.
func (r *Repository) collect(ctx context.Context, done *Pruned, dryRun bool) error {
	var listed []objects.Object
	for o, err := range r.objects.List(ctx, dataDir) {
		if err != nil {
			return err
		}
		listed = append(listed, o)
	}
	all, err := r.List(ctx)
	if err != nil {
		return err
	}
	gone := func(m *Manifest) bool { return dryRun && slices.Contains(done.Removed, m.ID) }
	all.Complete, all.Unfinished = slices.DeleteFunc(all.Complete, gone), slices.DeleteFunc(all.Unfinished, gone)
	done.Kept = len(all.Complete)
	if done.Unfinished = all.Unfinished; len(done.Unfinished) > 0 {
		return nil
	}
	needed := map[string]bool{}
	for _, m := range all.Complete {
		for _, f := range m.Files {
			for _, p := range f.Parts {
				needed[dataDir+p.Object] = true
			}
		}
	}
	for _, d := range all.Damaged {
		if d.ID != "" && (!dryRun || !slices.Contains(done.Removed, d.ID)) {
			return fmt.Errorf("%s is damaged: %w", d.Object, d.Cause)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletions)
	for _, o := range listed {
		if needed[o.Name] {
			continue
		}
		done.Objects++
		done.Bytes += o.Size
		if !dryRun {
			g.Go(func() error { return r.objects.Delete(ctx, o.Name) })
		}
	}
	return g.Wait()
}
