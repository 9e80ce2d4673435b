package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/adapters/backup/repository/internal/seal"
)

// Create makes a backup. To reuse the objects of a failed run, name this run in Source.Interrupted.
func (r *Repository) Create(ctx context.Context, s Source) (*Manifest, error) {
	recipients, err := encryption.ParseRecipients(s.Keys)
	if err != nil {
		return nil, err
	}
	if err := r.checkOwner(ctx, s.Store); err != nil {
		return nil, err
	}
	began := s.Now()
	m := &Manifest{ID: newID(began), Store: s.Store, StartedAt: began.UTC(), From: s.From, Program: s.Program, Recipients: slices.Clone(s.Keys)}
	dir, log, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.checkTurn(ctx, log); err != nil { // check this before the first write, because an unfinished run would keep Prune from deleting objects
		return nil, err
	}
	if err := s.Begin(m.ID); err != nil {
		return nil, err
	}
	if err := r.save(ctx, runDir, m); err != nil {
		return nil, err
	}
	known, err := r.readKnown(ctx, m, s.Interrupted)
	if err != nil {
		return nil, err
	}
	if m.Files, err = listFiles(dir); err != nil {
		return nil, err
	}
	if m.Mended, err = known.reread(ctx, r, m.Files); err != nil {
		return nil, err
	}
	u := &upload{objects: r.objects, manifest: m, known: known, recipients: recipients, source: &s, dir: dir, save: r.save}
	if err := u.run(ctx); err != nil {
		return nil, err
	}
	m.EndedAt = s.Now().UTC()
	now, err := r.checkTurn(ctx, log)
	if errors.Is(err, ErrReplaced) { // no server with this data directory can complete the interrupted backup
		err = errors.Join(err, r.objects.Delete(ctx, runDir+m.ID))
	} else if err == nil {
		err = r.checkRun(ctx, m.ID)
	}
	if err != nil {
		return nil, err
	}
	m.setHistory(log, now)
	if err := r.commit(ctx, m); err != nil {
		return nil, err
	}
	if err := r.objects.Put(ctx, nameDir+m.ID, []byte(m.ID+"\n")); err != nil {
		return nil, err
	}
	// A prune may have removed the run after the check above and before backups/ID was written.
	if err := r.checkRun(ctx, m.ID); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, r.objects.Delete(ctx, nameDir+m.ID), r.objects.Delete(ctx, backupDir+m.ID))
	} else if err != nil {
		return nil, err
	}
	for _, id := range append(slices.Clone(s.Interrupted), m.ID) {
		if err := r.objects.Delete(ctx, runDir+id); err != nil {
			return m, fmt.Errorf("the backup %s is complete, but %s%s cannot be deleted: %w", m.ID, runDir, id, err)
		}
	}
	return m, nil
}

// setHistory records which commits the backup has, or only the ID of the store's timeline if the backup location has no
// timelines.
func (m *Manifest) setHistory(log *LogSpan, now LogOwner) {
	switch {
	case log == nil:
	case now.Timeline == "":
		m.OtherTimeline = log.Timeline
	case log.WithoutLog:
		m.SpanWithoutLog = log
	default:
		m.Log = log
	}
}

// checkTurn returns an error if another store has replaced this store, because a backup of this store would look like
// the newest state.
func (r *Repository) checkTurn(ctx context.Context, log *LogSpan) (now LogOwner, err error) {
	now, err = r.LogOwner(ctx)
	switch {
	case err != nil || now.Timeline == "":
		return now, err
	case log == nil:
		return now, &Replaced{"the backup location has a log of other commits, and the log of this store does not continue it"}
	case log.Term.Number == 0:
		return now, now.Check(log.Timeline, now.Term)
	}
	return now, now.Check(log.Timeline, log.Term)
}

// checkRun returns an error if [Repository.Prune] has removed the run and its objects.
func (r *Repository) checkRun(ctx context.Context, id string) error {
	_, err := r.objects.Get(ctx, runDir+id)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup %s was removed while it was being made: %w", id, err)
	}
	return err
}

func (r *Repository) save(ctx context.Context, dir string, m *Manifest) error {
	b, err := seal.Encode(m)
	if err != nil {
		return err
	}
	return r.objects.Put(ctx, dir+m.ID, b)
}

// commit writes the manifest of the complete backup. If the reply is lost, it checks whether the manifest exists.
func (r *Repository) commit(ctx context.Context, m *Manifest) error {
	err := r.save(ctx, backupDir, m)
	if err == nil {
		return nil
	}
	b, readErr := r.objects.Get(ctx, backupDir+m.ID)
	if readErr != nil {
		return err
	}
	_, err = decode(m.ID, b)
	return err
}

// readKnown reads the manifests of complete and of interrupted backups. It must be called after the manifest of this
// run was stored in unfinished/.
func (r *Repository) readKnown(ctx context.Context, m *Manifest, interrupted []string) (*knownParts, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]int64{}
	for o, err := range r.objects.List(ctx, dataDir) {
		if err != nil {
			return nil, err
		}
		there[o.Name[len(dataDir):]] = o.Size
	}
	k := &knownParts{files: map[file][]Part{}, sums: map[string]Part{}, until: m.StartedAt}
	sources := all.Complete
	if n := len(sources); n > 0 {
		k.after = sources[n-1].StartedAt
	}
	for _, id := range interrupted {
		if old := find(all.Unfinished, id); old != nil {
			sources = append(sources, old)
		}
	}
	for _, old := range sources {
		if !slices.Equal(old.Recipients, m.Recipients) {
			continue
		}
		for _, f := range old.Files {
			if !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Object == "" || there[p.Object] != p.Size }) {
				k.files[file{f.Name, f.Size, f.Modified}] = f.Parts
			}
			for _, p := range f.Parts {
				if len(m.Recipients) == 0 && p.Object != "" && there[p.Object] == p.Size {
					k.sums[sumOf(p.Object)] = p
				}
			}
		}
	}
	return k, nil
}

// listFiles returns the files of a directory. It does not set File.Parts.
func listFiles(dir string) (files []File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a file", filepath.Join(dir, e.Name()))
		}
		files = append(files, File{Name: e.Name(), Size: info.Size(), Modified: info.ModTime().UnixNano()})
	}
	if len(files) == 0 {
		return nil, errors.New("there are no files to back up in " + dir)
	}
	return files, nil
}
