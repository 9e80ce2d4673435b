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

// Pruning says what [Repository.Prune] should remove.
type Pruning struct {
	Retention Retention
	Remove    []string // names of further backups to remove; these may be unfinished or damaged
	DryRun    bool     // whether to report what Prune would remove, without deleting anything
	Now       time.Time
}

// Pruned lists what [Repository.Prune] has removed.
type Pruned struct {
	Removed  []string // names of the removed backups
	Kept     int
	Objects  int
	Bytes    int64 // total size of the removed objects in bytes
	Pieces   int   // number of removed log pieces
	LogBytes int64 // total size of the removed log pieces in bytes
	// Unfinished lists backups that are running or were interrupted. While there are such backups, Prune deletes no objects.
	Unfinished []*Manifest
}

// Prune removes backups, and then the objects that no backup needs. An interrupted Prune can be repeated. The package
// comment explains the steps.
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
			return nil, fmt.Errorf("%s is damaged (%w): nothing was removed, because it is unknown which objects this backup needs; restore the file, or remove the backup with --remove %s", d.Object, d.Cause, d.ID)
		}
	}
	if !p.Retention.IsEmpty() && len(all.Complete)+len(all.Unfinished) == 0 {
		for _, err := range r.objects.List(ctx, dataDir) {
			if err != nil {
				return nil, err
			}
			return nil, errLost
		}
	}
	l, err := r.newestLine(ctx)
	if err != nil {
		return nil, fmt.Errorf("nothing was removed, because it is unknown which backups belong to the store that wrote last to this backup location: %w", err)
	}
	_, remove := p.Retention.split(&l, all.Complete, p.Now)
	for _, m := range remove {
		if !slices.Contains(p.Remove, m.ID) {
			done.Removed = append(done.Removed, m.ID)
		}
	}
	slices.Sort(done.Removed)
	for _, id := range done.Removed {
		// The manifest in backupDir is deleted last. Until then, the backup counts as complete, and a killed prune can
		// be repeated. In another order, the rest could look like a lost manifest.
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

var errLost = fmt.Errorf("nothing was removed, because there is data in %s but not a single backup: were the folders %s and %s lost? If you removed the backups on purpose, make a new backup first", dataDir, backupDir, nameDir)

// Abandon deletes unfinished runs and their objects. While other runs are unfinished, the objects remain until the next
// prune.
func (r *Repository) Abandon(ctx context.Context, ids ...string) (err error) {
	for _, id := range ids {
		err = errors.Join(err, r.objects.Delete(ctx, runDir+id))
	}
	if err != nil {
		return err
	}
	return r.collect(ctx, &Pruned{}, false)
}

func (b *Backups) has(id string) bool {
	return find(b.Complete, id) != nil || find(b.Unfinished, id) != nil ||
		slices.ContainsFunc(b.Damaged, func(d Damaged) bool { return d.ID == id })
}

// deletions is the number of objects that are deleted concurrently.
const deletions = 16

// collect deletes the objects that no manifest names. The package comment explains the order of the steps.
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

// pruneLog removes the log pieces that no restore from the given backups needs.
func (r *Repository) pruneLog(ctx context.Context, done *Pruned, backups []*Manifest, p Pruning) error {
	needed := p.Retention.logFrom(backups, p.Now)
	if needed == 0 {
		return nil
	}
	list, err := r.Pieces(ctx, "")
	if err != nil {
		return err
	}
	var remove []Piece
	for _, piece := range list {
		if piece.To <= needed {
			remove = append(remove, piece)
			done.Pieces++
			done.LogBytes += piece.Size
		}
	}
	if len(remove) == 0 || p.DryRun {
		return nil
	}
	if err := r.setPruned(ctx, needed); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletions)
	for _, piece := range remove {
		g.Go(func() error { return r.objects.Delete(ctx, piece.object()) })
	}
	return g.Wait()
}
