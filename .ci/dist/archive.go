package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

func (r *release) archives() error {
	for _, t := range r.targets {
		name, err := r.expand(r.config.Archives[0].NameTemplate, t, "")
		if err != nil {
			return err
		}
		format := r.config.format(t)
		f, err := os.Create(filepath.Join(r.out, name+"."+format))
		if err != nil {
			return err
		}
		var add func(name string, mode int64, text []byte) error
		var ends []func() error
		switch format {
		case "zip":
			w := zip.NewWriter(f)
			add, ends = r.zipped(w), []func() error{w.Close, f.Close}
		case "tar.gz":
			z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // BestCompression is a valid level, so there is no error
			w := tar.NewWriter(z)
			add, ends = r.tarred(w), []func() error{w.Close, z.Close, f.Close}
		default:
			return fmt.Errorf("archives: format %s is not known here", format)
		}
		err = r.fill(t, func(file string, mode int64, text []byte) error { return add(name+"/"+file, mode, text) })
		for _, end := range ends {
			err = errors.Join(err, end())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *release) fill(t target, add func(name string, mode int64, text []byte) error) error {
	read := func(file, name string, mode int64) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return add(name, mode, text)
	}
	if err := read(t.program, filepath.Base(t.program), 0o755); err != nil {
		return err
	}
	for _, f := range r.config.Archives[0].Files {
		found, err := filepath.Glob(f.Src)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("archives: there is no %s", f.Src)
		}
		for _, file := range found {
			if err := read(file, path.Join(f.Dst, filepath.Base(file)), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) tarred(w *tar.Writer) func(name string, mode int64, text []byte) error {
	return func(name string, mode int64, text []byte) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text)), ModTime: r.time})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
}

func (r *release) zipped(w *zip.Writer) func(name string, mode int64, text []byte) error {
	return func(name string, mode int64, text []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(os.FileMode(mode))
		to, err := w.CreateHeader(h)
		if err == nil {
			_, err = to.Write(text)
		}
		return err
	}
}
