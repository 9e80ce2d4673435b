package export

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/scan"
)

// To writes the tables to files in a destination and returns their manifest. It omits a table that is deleted during
// the export. After an error, the same command resumes.
//
// A finished export in the destination remains complete until the new manifest, which is written last, replaces it.
func (o *Export) To(ctx context.Context, c *remote.Client, place Place) (*Manifest, error) {
	x := &exporting{Export: o, c: c, place: place}
	if err := x.examine(ctx); err != nil {
		return nil, err
	}
	again := x.begun != nil
	if again {
		if err := x.resume(ctx); err != nil {
			return nil, err
		}
	}
	if err := x.check(ctx); err != nil {
		return nil, err
	}
	if !again {
		if err := x.start(ctx); err != nil {
			return nil, err
		}
	}
	missing, err := x.tables(ctx)
	if err != nil {
		return nil, err
	}
	m := x.manifest(missing)
	for i := range m.Tables {
		t := &m.Tables[i]
		if err := x.finish(ctx, t, x.work.Tasks(t.Name)); err != nil {
			return nil, err
		}
	}
	if err := x.checkOwner(ctx); err != nil {
		return nil, err
	}
	if err := place.putJSON(ctx, ManifestName, m); err != nil {
		return nil, err
	}
	return m, x.tidy(ctx, m)
}

// examine determines whether the destination contains an export. It fails if the destination contains other files, or
// an export that the command can neither resume nor replace.
func (x *exporting) examine(ctx context.Context) (err error) {
	if x.old, err = ReadManifest(ctx, x.place); err != nil {
		return err
	}
	var b exportRecord
	there, err := x.place.getJSON(ctx, begunName, &b)
	if err != nil {
		return err
	}
	// The record b belongs to the export that began last. If its number is not higher than the number of the finished
	// export, the record is obsolete: the removal of temporary objects was interrupted.
	there = there && (x.old == nil || b.Number > x.old.Number)
	switch {
	case x.Restart:
	case there && !progressfile.Same(b.Command, x.Command):
		return fmt.Errorf("%s has an unfinished export of a different command: %s\nrepeat that command, name another directory or bucket, or begin again with --restart", x.place.Location, &b.Command)
	case there:
		x.begun = &b
		return nil
	case x.old != nil && !progressfile.Same(x.old.Command, &x.Command):
		return fmt.Errorf("%s has the export of a different command: %s\nname another directory or bucket, or replace that export with --restart", x.place.Location, x.old.Command)
	}
	if there || x.old != nil {
		return nil
	}
	for object, err := range x.place.List(ctx, "") {
		if err != nil {
			return err
		}
		if !isExportObject(object) {
			return fmt.Errorf("%s is not empty and has no export: it has %s; name another directory or bucket", x.place.Location, object.Name)
		}
	}
	return nil
}

// check fails if none of the tables exists. It sends a query before anything is written, so that a wrong key or filter
// leaves the destination unchanged.
func (x *exporting) check(ctx context.Context) (err error) {
	if x.begun == nil {
		x.begun = &exportRecord{Command: x.Command, Tables: x.Tables, Number: 1}
		if x.old != nil {
			x.begun.Number = x.old.Number + 1
		}
		if len(x.Tables) == 0 {
			if x.begun.Tables, err = x.c.Tables(ctx); err != nil {
				return err
			}
		}
	}
	if len(x.begun.Tables) == 0 {
		return fmt.Errorf("%s has no tables", x.Source)
	}
	var lost error
	for _, table := range x.begun.Tables {
		lost = nil
		// The query reads at most one entity, but makes the service check the key and the filter.
		q := remote.Query{Table: table, Filter: ranges.And("PartitionKey eq '' and RowKey eq ''", x.Filter), Top: 1}
		for _, err := range x.c.Entities(ctx, q) {
			switch {
			case remote.TableGone(err):
				lost = err
				continue
			case err != nil:
				return err
			}
		}
		if lost == nil {
			return nil
		}
	}
	return lost
}

// tables exports the unfinished ranges of all tables. It returns the names of the tables that no longer exist.
func (x *exporting) tables(ctx context.Context) (missing []string, err error) {
	w := x.work
	x.Progress.Tables(len(x.begun.Tables))
	x.Begin(w.HasProgress())
	for _, name := range x.begun.Tables {
		err := w.Begin(ctx, x.c, name, x.Filter)
		if err == nil {
			err = w.Run(ctx, name, x.Connections, x.Progress, func(ctx context.Context, p *scan.Task) error { return x.readRange(ctx, name, p) })
		}
		if remote.TableGone(err) && len(missing)+1 < len(x.begun.Tables) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			x.Progress.Rows.Store(w.Rows(x.begun.Tables...)) // report only the rows from which the next run resumes
			return nil, err
		}
	}
	return missing, nil
}

// manifest returns the manifest without the files of the tables. The method finish adds these files.
func (x *exporting) manifest(missing []string) *Manifest {
	m := &Manifest{Edgetable: manifestVersion, Number: x.begun.Number, Command: &x.Command, Source: x.Source, Format: x.Format, Filter: x.Filter, Select: x.Select,
		Tables: []ManifestTable{}, Missing: missing}
	for _, name := range x.begun.Tables {
		if slices.Contains(missing, name) {
			continue
		}
		if begun := x.work.StartTime(name).Format(time.RFC3339); m.Begun == "" || begun < m.Begun {
			m.Begun = begun
		}
		m.Tables = append(m.Tables, ManifestTable{Name: name, Files: []progressfile.Stored{}})
	}
	return m
}
