package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// frameSize is how much text a file gets until the journal notes it. Tests have less.
var frameSize = 8 << 20

// filePart writes a part of a table to its file, whose length the journal knows.
type filePart struct {
	frames
	file   *os.File
	sum    hash.Hash // of the file, nil if an earlier run wrote some of it
	part   *part
	noting chan error // gets the result of the last note, nil if it was taken
	record func(noted) error
}

// piece returns the name of the file for a part until all parts are complete:
// their order is not known before. For CSV and parquet it is JSON lines, as all
// columns have to be known before the first row.
func (o *Export) piece(table string, p *part) (name, compress string) {
	name = fmt.Sprintf("%s/piece-%04d.jsonl", table, p.number)
	if o.Format == "jsonl" {
		return name + endings[o.Compress], o.Compress
	}
	return name, "none"
}

func (d Directory) part(_ context.Context, o *Export, w *tableWork, table string, p *part) (partWriter, int, error) {
	if err := os.MkdirAll(d.at(table), 0o755); err != nil {
		return nil, 0, err
	}
	name, compress := o.piece(table, p)
	file, err := os.OpenFile(d.at(name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, 0, err
	}
	if err := cutTo(file, p.state.Size); err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	f := &filePart{file: file, part: p, record: func(state noted) error { return w.note(table, p, state) }}
	var to io.Writer = file
	if p.state.Size == 0 {
		f.sum = sha256.New()
		to = io.MultiWriter(file, f.sum)
	}
	f.frames = newFrames(to, compress)
	return f, frameSize, nil
}

// note lets the reading go on while the disk works.
func (f *filePart) note(state noted) error {
	if err := errors.Join(f.settle(), f.end()); err != nil {
		return err
	}
	size, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	state.Size = size
	result := make(chan error, 1)
	f.noting = result
	go func() {
		err := f.file.Sync()
		if err == nil {
			err = f.record(state)
		}
		result <- err
	}()
	return nil
}

// settle waits for the last note.
func (f *filePart) settle() (err error) {
	if f.noting != nil {
		err, f.noting = <-f.noting, nil
	}
	return err
}

func (f *filePart) close() error {
	err := errors.Join(f.settle(), f.file.Close())
	if err == nil && f.part.state.Done && f.sum != nil {
		f.part.sum = hex.EncodeToString(f.sum.Sum(nil))
	}
	return err
}
