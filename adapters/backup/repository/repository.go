package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/objects"
)

// Repository gives access to the backups of one store in a backup location.
type Repository struct {
	objects objects.Place
}

// New returns the repository in a backup location, which may be empty.
func New(o objects.Place) *Repository { return &Repository{o} }

var (
	// ErrNone means that there are no backups in the backup location.
	ErrNone = errors.New("there are no backups")
	// ErrNoneYet means that none of the backups belongs to the newest timeline or its ancestors.
	ErrNoneYet = errors.New("the store that wrote last to this backup location has no complete backup yet")
	// errForeign means that the backup location contains files that are not backups.
	errForeign = errors.New("the backup location contains other files; name an empty location")
	// ErrOtherStore means that the backup location contains backups of another store.
	ErrOtherStore = errors.New("the location contains backups of another store; give each store its own backup location")
)

// check reads the identity of the store to which the backup location belongs.
func (r *Repository) check(ctx context.Context) (store string, err error) {
	b, err := r.objects.Get(ctx, formatName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrNone
	case err != nil:
		return "", err
	}
	if err := seal.Decode(b, &store); errors.Is(err, seal.ErrNewer) {
		return "", fmt.Errorf("%q: %w", formatName, err)
	} else if err != nil {
		return "", fmt.Errorf("%w: %q cannot be read: %w", errForeign, formatName, err)
	}
	return store, nil
}

// CheckStore returns [ErrOtherStore] if the backup location belongs to another store than the given one.
func (r *Repository) CheckStore(ctx context.Context, store string) error {
	known, err := r.check(ctx)
	if err == nil && known != store {
		return ErrOtherStore
	}
	if errors.Is(err, ErrNone) {
		return nil
	}
	return err
}

// checkOwner checks that the backup location contains backups of the store. It reserves an empty location for the
// store.
func (r *Repository) checkOwner(ctx context.Context, store string) error {
	known, err := r.check(ctx)
	switch {
	case err == nil && known == store:
		return nil
	case err == nil:
		return ErrOtherStore
	case !errors.Is(err, ErrNone) && !errors.Is(err, errForeign):
		return err
	}
	if owner, err := r.owner(ctx); err != nil {
		return err
	} else if owner != "" && owner != store {
		return ErrOtherStore
	} else if owner == "" {
		for o, err := range r.objects.List(ctx, "") {
			if err != nil {
				return err
			}
			if !strings.HasSuffix(o.Name, objects.TempSuffix) { // a killed run has left this temporary file
				return fmt.Errorf("%w: it holds %q", errForeign, o.Name)
			}
		}
	}
	b, err := seal.Encode(store)
	if err != nil {
		return err
	}
	return r.objects.Put(ctx, formatName, b)
}

// owner returns the store that made the newest backup. checkOwner uses this store if the object "format" is lost.
func (r *Repository) owner(ctx context.Context) (store string, err error) {
	list, err := r.manifests(ctx, backupDir, new([]Damaged))
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[len(list)-1].Store, nil
}

// Backups lists the backups in a backup location.
type Backups struct {
	Complete   []*Manifest // complete backups, oldest first
	Unfinished []*Manifest // backups that are running, or were interrupted
	Damaged    []Damaged
}

// Damaged describes an unreadable manifest, an unreadable object "format", or the missing manifest of a backup that
// was never removed.
type Damaged struct {
	ID, Object string
	Cause      error
}

// List reads all manifests.
func (r *Repository) List(ctx context.Context) (*Backups, error) {
	_, formatErr := r.check(ctx)
	if formatErr != nil && !errors.Is(formatErr, ErrNone) && !errors.Is(formatErr, errForeign) {
		return nil, formatErr
	}
	var b Backups
	// The unfinished manifests must be read first: a backup that completes between the two calls is then in at least
	// one list.
	var err error
	if b.Unfinished, err = r.manifests(ctx, runDir, &b.Damaged); err != nil {
		return nil, err
	}
	if b.Complete, err = r.manifests(ctx, backupDir, &b.Damaged); err != nil {
		return nil, err
	}
	if err := r.addLostManifests(ctx, &b); err != nil {
		return nil, err
	}
	if formatErr != nil && len(b.Complete)+len(b.Unfinished)+len(b.Damaged) == 0 {
		return nil, formatErr
	}
	if formatErr != nil { // The object "format" existed when the first backup was made, so the location has lost it.
		b.Damaged = append(b.Damaged, Damaged{Object: formatName, Cause: formatErr})
	}
	b.Unfinished = slices.DeleteFunc(b.Unfinished, func(m *Manifest) bool { return find(b.Complete, m.ID) != nil })
	return &b, nil
}

var errGone = errors.New("the manifest is missing, although the backup was complete and was not removed")

// addLostManifests adds lost manifests to b.Damaged. For a lost manifest, names/ still has the name of the backup. A
// removal would have deleted this name first.
func (r *Repository) addLostManifests(ctx context.Context, b *Backups) error {
	named, err := r.names(ctx, nameDir)
	if err != nil {
		return err
	}
	for _, id := range named {
		if find(b.Complete, id) != nil || slices.ContainsFunc(b.Damaged, func(d Damaged) bool { return d.Object == backupDir+id }) {
			continue
		}
		if _, err := r.objects.Get(ctx, backupDir+id); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			continue // the backup was completed after the manifests were listed
		}
		switch _, err := r.objects.Get(ctx, nameDir+id); {
		case err == nil:
			b.Damaged = append(b.Damaged, Damaged{id, backupDir + id, errGone})
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	slices.SortStableFunc(b.Damaged, func(x, y Damaged) int { return strings.Compare(x.ID, y.ID) })
	return nil
}

func find(list []*Manifest, id string) *Manifest {
	i := slices.IndexFunc(list, func(m *Manifest) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// manifests reads the manifests in a folder, sorted by their names.
func (r *Repository) manifests(ctx context.Context, dir string, damaged *[]Damaged) (list []*Manifest, err error) {
	ids, err := r.names(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		b, err := r.objects.Get(ctx, dir+id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a prune removed the manifest after it was listed
		}
		if err != nil {
			return nil, err
		}
		m, err := decode(id, b)
		if err != nil {
			*damaged = append(*damaged, Damaged{id, dir + id, err})
			continue
		}
		list = append(list, m)
	}
	return list, nil
}

// names returns the sorted names of the runs that have a manifest in a folder.
func (r *Repository) names(ctx context.Context, dir string) (ids []string, err error) {
	for o, err := range r.objects.List(ctx, dir) {
		if err != nil {
			return nil, err
		}
		id := strings.TrimPrefix(o.Name, dir)
		if _, ok := timeOf(id); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Find returns the complete backup whose name begins with id. It returns an error unless there is exactly one such
// backup.
func (r *Repository) Find(ctx context.Context, id string) (*Manifest, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var found []*Manifest
	for _, m := range all.Complete {
		if strings.HasPrefix(m.ID, id) {
			found = append(found, m)
		}
	}
	for _, d := range all.Damaged {
		if strings.HasPrefix(d.ID, id) {
			return nil, fmt.Errorf("the manifest %s is damaged: %w", d.Object, d.Cause)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("the names of %d backups begin with %s", len(found), id)
	}
	return nil, fmt.Errorf("there is no complete backup %s", id)
}
