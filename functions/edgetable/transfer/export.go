package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"edgetable/functions/edgetable/remote"
)

// Export says what to export and how.
type Export struct {
	Tables   []string `json:"tables"`
	Source   string   `json:"source"` // URL of the account
	Filter   string   `json:"filter,omitempty"`
	Select   []string `json:"select,omitempty"`
	Format   string   `json:"format"`   // jsonl, csv, csv-plain or parquet
	Compress string   `json:"compress"` // none, gzip or zstd
	Excel    bool     `json:"excel,omitempty"`

	Notes       []string         `json:"-"` // ToWriter sets what a reader of the file should know
	Connections int              `json:"-"`
	Progress    *Progress        `json:"-"`
	Begin       func(again bool) `json:"-"` // gets whether earlier work continues
}

// ErrFinished is why ToDirectory writes nothing: the directory has all of it.
var ErrFinished = errors.New("the export is finished already")

// ToDirectory exports to a directory: files of ranges of keys, then the manifest. A table that is deleted during the export
// is not part of it. After an error, the same call continues where the journal says.
func (o *Export) ToDirectory(ctx context.Context, c *remote.Client, dir string) (m *Manifest, err error) {
	if m, err := readManifest(dir); err != nil {
		return nil, err
	} else if m != nil {
		return m, errors.Join(ErrFinished, tidy(dir, m))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := o.mayUse(dir); err != nil {
		return nil, err
	}
	w, err := openWork(filepath.Join(dir, journalName), *o.options(), o.Tables)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.journal.close()) }()
	missing, err := o.tables(ctx, c, w, func(ctx context.Context, table string, p *part) error {
		return o.part(ctx, c, dir, table, p, w)
	})
	if err != nil {
		return nil, err
	}
	return o.finish(dir, w, missing)
}

// tables calls do for each part of the tables that is not done. It returns the
// tables that are not there.
func (o *Export) tables(ctx context.Context, c *remote.Client, w *tableWork, do func(ctx context.Context, table string, p *part) error) (missing []string, err error) {
	o.Progress.tables = len(o.Tables)
	o.Progress.resume(w.rows())
	o.Begin(w.again)
	for _, name := range o.Tables {
		err := w.begin(ctx, c, name, o.Filter)
		if err == nil {
			err = w.run(ctx, name, o.Connections, o.Progress, func(ctx context.Context, p *part) error { return do(ctx, name, p) })
		}
		if gone(err) && len(missing)+1 < len(o.Tables) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			o.Progress.Rows.Store(w.rows()) // what the next run continues from
			return nil, err
		}
	}
	return missing, nil
}
