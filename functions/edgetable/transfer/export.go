package transfer

import (
	"context"
	"errors"
	"slices"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
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

// ErrFinished is why To writes nothing: the place has all of it.
var ErrFinished = errors.New("the export is finished already")

// To exports to a place. A table that is deleted during the export is not part of it. After
// an error, the same call continues where the journal says.
func (o *Export) To(ctx context.Context, c *remote.Client, place Place) (m *Manifest, err error) {
	if m, err := readManifest(ctx, place); err != nil {
		return nil, err
	} else if m != nil {
		return m, errors.Join(ErrFinished, place.tidy(ctx, m))
	}
	w := newWork(o.Tables)
	if err := place.begin(ctx, o, w); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.journal.close()) }()
	missing, err := o.tables(ctx, c, w, func(ctx context.Context, table string, p *part) error {
		out, every, err := place.part(ctx, o, w, table, p)
		if err != nil {
			return err
		}
		err = o.part(ctx, c, out, every, table, p)
		return errors.Join(err, out.close())
	})
	if err != nil {
		return nil, err
	}
	m = o.manifest(w, missing)
	for i := range m.Tables {
		t := &m.Tables[i]
		if err := place.finish(ctx, o, t, inOrder(w.tables[t.Name].parts)); err != nil {
			return nil, err
		}
	}
	if err := putJSON(ctx, place, ManifestName, m); err != nil {
		return nil, err
	}
	return m, place.tidy(ctx, m)
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

// part reads a part of a table into a place, or what the place lacks of it.
func (o *Export) part(ctx context.Context, c *remote.Client, out partWriter, every int, table string, p *part) error {
	var text []byte
	rows, written := p.state.Rows, 0 // written is how much text went out since the last note
	flush := func() error {
		_, err := out.Write(text)
		written += len(text)
		text = text[:0]
		return err
	}
	note := func(done bool) error {
		if err := flush(); err != nil {
			return err
		}
		written = 0
		state := noted{Rows: rows, Done: done}
		if rows > 0 {
			at := p.last()
			state.At = &at
		}
		return out.note(state)
	}
	for e, err := range p.entities(ctx, c, remote.Query{Table: table, Filter: o.Filter, Select: WithKeys(o.Select)}) {
		if err != nil {
			return errors.Join(err, note(false))
		}
		text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		rows++
		o.Progress.Rows.Add(1)
		if len(text) < 256<<10 {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if written >= every {
			if err := note(false); err != nil {
				return err
			}
		}
	}
	return note(true)
}

// manifest is the manifest of an export whose tables have no files yet.
func (o *Export) manifest(w *tableWork, missing []string) *Manifest {
	m := &Manifest{Edgetable: manifestVersion, Source: o.Source, Format: o.Format, Filter: o.Filter, Select: o.Select, Tables: []ManifestTable{}, Missing: missing}
	for _, name := range o.Tables {
		if slices.Contains(missing, name) {
			continue
		}
		if begun := w.tables[name].begun.Format(time.RFC3339); m.Begun == "" || begun < m.Begun {
			m.Begun = begun
		}
		m.Tables = append(m.Tables, ManifestTable{Name: name, Parts: []Part{}})
	}
	return m
}

// options is the part of o that must be the same when work goes on.
func (o *Export) options() *Export {
	return &Export{Tables: o.Tables, Source: o.Source, Filter: o.Filter, Select: o.Select, Format: o.Format, Compress: o.Compress, Excel: o.Excel}
}

// ending is the ending of the names of files.
func (o *Export) ending() string {
	switch o.Format {
	case "jsonl":
		return ".jsonl" + endings[o.Compress]
	case "parquet": // which is compressed within
		return ".parquet"
	}
	return ".csv" + endings[o.Compress]
}
