package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"edgetable/core/objects"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Names of the objects of an unfinished export. The intermediate objects of CSV and parquet files, with one JSON entity
// on each line, have the prefix unfinishedPrefix too.
const (
	unfinishedPrefix = "unfinished/"
	begunName        = unfinishedPrefix + "export.json"
	linePrefix       = unfinishedPrefix + "line-"
)

// Place is the directory, or the prefix in a bucket, to which an export is written.
type Place struct {
	objects.Place
	Location string // directory or URL in the user's spelling
}

// At returns the location of an object for error messages.
func (p Place) At(name string) string {
	where, _, _ := strings.Cut(p.Location, "?")
	return strings.TrimSuffix(where, "/") + "/" + name
}

// Get returns the content of an object. Its errors contain the location of the object.
func (p Place) Get(ctx context.Context, name string) ([]byte, error) {
	text, err := p.Place.Get(ctx, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", p.At(name), err)
	}
	return text, err
}

// getJSON decodes a JSON object of the destination. It returns false if the object does not exist.
func (p Place) getJSON(ctx context.Context, name string, to any) (found bool, err error) {
	text, err := p.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, fmt.Errorf("%s: %w", p.At(name), err)
	}
	return true, nil
}

// Unfinished reports whether the destination has an unfinished export.
func (p Place) Unfinished(ctx context.Context) (bool, error) {
	return p.getJSON(ctx, begunName, new(exportRecord))
}

func (p Place) putJSON(ctx context.Context, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return p.Put(ctx, name, append(text, '\n'))
}

// putFile stores a file of an export and returns its manifest entry.
func (p Place) putFile(ctx context.Context, name string, rows int64, content []byte) (progressfile.Stored, error) {
	sum := sha256.Sum256(content)
	return progressfile.Stored{File: name, Rows: rows, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}, p.Put(ctx, name, content)
}

// GetFile returns the content of a file of an export. It fails if the size or the checksum does not match f.
func (p Place) GetFile(ctx context.Context, f *progressfile.Stored) ([]byte, error) {
	text, err := p.Get(ctx, f.File)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if int64(len(text)) != f.Bytes || !strings.EqualFold(hex.EncodeToString(sum[:]), f.SHA256) {
		return nil, fmt.Errorf("%s has changed since it was written: it is damaged, or was modified", p.At(f.File))
	}
	return text, nil
}

// entities returns the entities of files of JSON lines, one file after the other.
func (p Place) entities(ctx context.Context, files []progressfile.Stored) rows.List {
	return func(do func(payload.Received) error) error {
		for _, f := range files {
			content, err := p.GetFile(ctx, &f)
			if err != nil {
				return err
			}
			text, _, done, err := rows.Decompress(bytes.NewReader(content), f.File)
			if err == nil {
				err = rows.Entities(f.File, text, do)
				done()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}
