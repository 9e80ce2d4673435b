package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// objectSize is how much text goes into an object, and how much may have to be
// read again after an interruption. The object is in memory until it is stored.
const objectSize = 4 << 20

// Names of objects while an export is not finished: one has the tables and ranges to
// export, and one for each range has its state.
const (
	unfinishedPrefix = "unfinished/"
	unfinishedName   = unfinishedPrefix + "export.json"
)

// begunExport is an export in a bucket that is not finished.
type begunExport struct {
	Options Export             `json:"options"`
	Begun   time.Time          `json:"begun"`
	Ranges  map[string][]Range `json:"ranges"` // of each table
}

// storedRange is how far a range is: its objects, and the last entity in them.
type storedRange struct {
	Objects []Part `json:"objects"`
	Last    *Key   `json:"last,omitempty"`
	Done    bool   `json:"done"`
}

// ToObjects exports to a place for objects, without a disk: an object for each
// 4 MiB of lines, the manifest last. After an error, the same call continues, also
// on another machine.
func (o *Export) ToObjects(ctx context.Context, c *remote.Client, place repository.Objects) (*Manifest, error) {
	m := &Manifest{}
	switch found, err := getJSON(ctx, place, ManifestName, m); {
	case err != nil:
		return nil, err
	case found:
		return m, errors.Join(ErrFinished, tidyObjects(ctx, place, m))
	}
	begun, again, err := o.beginObjects(ctx, c, place)
	if err != nil {
		return nil, err
	}
	states, earlier := map[string][]storedRange{}, int64(0)
	for _, name := range o.Tables {
		states[name] = make([]storedRange, len(begun.Ranges[name]))
		for i := range states[name] {
			if !again {
				continue
			}
			if _, err := getJSON(ctx, place, rangeName(name, i), &states[name][i]); err != nil {
				return nil, err
			}
			for _, part := range states[name][i].Objects {
				earlier += part.Rows
			}
		}
	}
	o.Progress.resume(earlier)
	o.Begin(again)
	var missing []string
	for _, name := range o.Tables {
		if begun.Ranges[name] == nil {
			missing = append(missing, name)
			continue
		}
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(o.Connections)
		for i, r := range begun.Ranges[name] {
			if state := &states[name][i]; !state.Done {
				g.Go(func() error { return o.rangeToObjects(ctx, c, place, name, i, r, state) })
			}
		}
		err := g.Wait()
		if gone(err) && len(missing)+1 < len(o.Tables) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	m = &Manifest{Edgetable: manifestVersion, Source: o.Source, Format: o.Format, Filter: o.Filter, Select: o.Select,
		Begun: begun.Begun.Format(time.RFC3339), Tables: []ManifestTable{}, Missing: missing}
	for _, name := range o.Tables {
		if slices.Contains(missing, name) {
			continue
		}
		table := ManifestTable{Name: name, Parts: []Part{}}
		for _, state := range states[name] {
			for _, part := range state.Objects {
				table.Rows += part.Rows
				table.Parts = append(table.Parts, part)
			}
		}
		m.Tables = append(m.Tables, table)
	}
	if err := putJSON(ctx, place, ManifestName, m); err != nil {
		return nil, err
	}
	return m, tidyObjects(ctx, place, m)
}

// tidyObjects removes what a finished export does not need.
func tidyObjects(ctx context.Context, place repository.Objects, m *Manifest) error {
	err := removeObjects(ctx, place, unfinishedPrefix)
	for _, table := range m.Missing {
		err = errors.Join(err, removeObjects(ctx, place, table+"/part-"))
	}
	return err
}

// beginObjects continues the export that is in the place, or begins one.
func (o *Export) beginObjects(ctx context.Context, c *remote.Client, place repository.Objects) (begun begunExport, again bool, err error) {
	if again, err = getJSON(ctx, place, unfinishedName, &begun); err != nil {
		return begun, false, err
	}
	options := *o.options()
	if again {
		if !reflect.DeepEqual(begun.Options, options) {
			return begun, false, errors.New("it has an unfinished export of other tables, or with other flags: repeat that command, or begin again with --restart")
		}
		return begun, true, nil
	}
	begun = begunExport{Options: options, Begun: time.Now().UTC().Truncate(time.Second), Ranges: map[string][]Range{}}
	for i, name := range o.Tables {
		ranges, err := Split(ctx, c, name, o.Filter, splits)
		if gone(err) && (len(begun.Ranges) > 0 || i+1 < len(o.Tables)) {
			continue
		}
		if err != nil {
			return begun, false, err
		}
		begun.Ranges[name] = ranges
	}
	return begun, false, putJSON(ctx, place, unfinishedName, begun)
}

// rangeToObjects exports the rest of a range. It stores the state after each object;
// an object that the state does not name is written again.
func (o *Export) rangeToObjects(ctx context.Context, c *remote.Client, place repository.Objects, table string, n int, r Range, state *storedRange) error {
	var text []byte
	var object bytes.Buffer
	out := newFrames(&object, o.Compress)
	var rows int64
	var last Key
	store := func(done bool) error {
		if state.Done = done; rows > 0 || n == 0 && len(state.Objects) == 0 { // an empty table has one object
			if _, err := out.Write(text); err != nil {
				return err
			}
			if err := out.end(); err != nil {
				return err
			}
			sum := sha256.Sum256(object.Bytes())
			part := Part{File: fmt.Sprintf("%s/part-%04d-%06d.jsonl%s", table, n, len(state.Objects), endings[o.Compress]), Rows: rows,
				Bytes: int64(object.Len()), SHA256: hex.EncodeToString(sum[:])}
			if err := place.Put(ctx, part.File, object.Bytes()); err != nil {
				return err
			}
			state.Objects = append(state.Objects, part)
			if !done {
				state.Last = &last
			}
		}
		rows, text = 0, text[:0]
		object.Reset()
		return putJSON(ctx, place, rangeName(table, n), state)
	}
	written := 0
	if state.Last != nil {
		r = r.Behind(*state.Last)
	}
	for e, err := range inRange(ctx, c, remote.Query{Table: table, Filter: o.Filter, Select: WithKeys(o.Select)}, r) {
		if err != nil {
			return err
		}
		before := len(text)
		text = append(payload.AppendJSON(text, e.PartitionKey, e.RowKey, e.Timestamp, e.Properties), '\n')
		written += len(text) - before
		rows++
		o.Progress.Rows.Add(1)
		if len(text) < 256<<10 {
			continue
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		text = text[:0]
		if written >= objectSize {
			last = Key{e.PartitionKey, e.RowKey}.clone()
			if err := store(false); err != nil {
				return err
			}
			written = 0
		}
	}
	return store(true)
}

func rangeName(table string, n int) string {
	return fmt.Sprintf("%s%s-%04d.json", unfinishedPrefix, table, n)
}

// BegunObjects returns the tables of the export in a place that is not finished,
// nil if there is none.
func BegunObjects(ctx context.Context, place repository.Objects) ([]string, error) {
	var begun begunExport
	_, err := getJSON(ctx, place, unfinishedName, &begun)
	return begun.Options.Tables, err
}

// RemoveObjects removes an export of such tables from a place, finished or not,
// and nothing else.
func RemoveObjects(ctx context.Context, place repository.Objects, tables []string) error {
	if err := place.Delete(ctx, ManifestName); err != nil {
		return err
	}
	for _, table := range tables {
		if err := removeObjects(ctx, place, table+"/part-"); err != nil {
			return err
		}
	}
	return removeObjects(ctx, place, unfinishedPrefix)
}

func removeObjects(ctx context.Context, place repository.Objects, prefix string) error {
	for object, err := range place.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if err := place.Delete(ctx, object.Name); err != nil {
			return err
		}
	}
	return nil
}

// getJSON reads an object. It returns false if there is none.
func getJSON(ctx context.Context, place repository.Objects, name string, to any) (found bool, err error) {
	text, err := place.Get(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

func putJSON(ctx context.Context, place repository.Objects, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return place.Put(ctx, name, append(text, '\n'))
}
