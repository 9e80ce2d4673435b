package follow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

// unread is a backup location in which some reads fail. The field contains the number of reads of log pieces that will
// fail from now on.
type unread struct {
	objects.Place
	fails int
}

var errAway = errors.New("the place does not answer")

func (p *unread) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "log/") && p.fails > 0 {
		p.fails--
		return nil, errAway
	}
	return p.Place.Get(ctx, name)
}

// TestUnreadPiece checks that a secondary repeats a failed read of a piece of the log. Only after
// many failures may it build a new store from a newer backup.
func TestUnreadPiece(t *testing.T) {
	t.Parallel()
	for _, fails := range []int{readAtMost - 1, readAtMost} {
		p := &unread{directory.Place{Dir: t.TempDir()}, fails}
		f := newLine(t, p)
		_, err := f.from.Place.Create(t.Context(), repository.Source{
			Store: f.identity,
			Snapshot: func(context.Context) (string, *repository.LogSpan, error) {
				dir := t.TempDir()
				return dir, &repository.LogSpan{Timeline: f.id, Low: 15, High: 15}, os.WriteFile(filepath.Join(dir, "000001.sst"), []byte("x"), 0o600)
			},
			Check: func(string) error { return nil }, Begin: func(string) error { return nil }, Progress: func(int64, int64) {}, Now: time.Now,
		})
		must.OK(t, err)
		f.ship()

		for range readAtMost - 1 {
			if err := f.catchUp(t.Context()); !errors.Is(err, errAway) || errors.Is(err, errOutdated) {
				t.Fatalf("%d of %d failures are left: %v", p.fails, fails, err)
			}
		}
		if err := f.catchUp(t.Context()); fails < readAtMost && (err != nil || f.at.Number != 20) || fails == readAtMost && !errors.Is(err, errOutdated) {
			t.Errorf("after %d failures it is at %d: %v", fails, f.at.Number, err)
		}
	}
}
