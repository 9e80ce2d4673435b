package repository_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"sync"

	"edgetable/core/objects"
)

// shelf is a backup location in memory.
type shelf struct {
	mu      sync.Mutex
	objects map[string][]byte
	hidden  string // List omits the names that begin with this prefix; "" hides no names
}

func newShelf() *shelf { return &shelf{objects: map[string][]byte{}} }

func (s *shelf) Put(_ context.Context, name string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = bytes.Clone(b)
	return nil
}

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.objects[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return bytes.Clone(b), nil
}

func (s *shelf) List(_ context.Context, prefix string) iter.Seq2[objects.Object, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []objects.Object
	for name, b := range s.objects {
		if strings.HasPrefix(name, prefix) && (s.hidden == "" || !strings.HasPrefix(name, s.hidden)) {
			list = append(list, objects.Object{Name: name, Size: int64(len(b))})
		}
	}
	return func(yield func(objects.Object, error) bool) {
		for _, o := range list {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (s *shelf) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
	return nil
}

// count returns the number of objects with a prefix.
func (s *shelf) count(prefix string) (n int) {
	for range s.List(context.Background(), prefix) {
		n++
	}
	return n
}

// step is called before and after each operation on a backup location. If it returns an error, the operation
// stops.
type step func(after bool) error

// stepped is a backup location that calls step at each operation, so that a test can stop the operation.
type stepped struct {
	objects.Place
	step step
}

func (s stepped) do(op func() error) error {
	if err := s.step(false); err != nil {
		return err
	}
	err := op()
	if e := s.step(true); e != nil {
		return e
	}
	return err
}

func (s stepped) Put(ctx context.Context, name string, b []byte) error {
	return s.do(func() error { return s.Place.Put(ctx, name, b) })
}

func (s stepped) Get(ctx context.Context, name string) (b []byte, err error) {
	err = s.do(func() error {
		b, err = s.Place.Get(ctx, name)
		return err
	})
	return b, err
}

func (s stepped) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	var list iter.Seq2[objects.Object, error]
	err := s.do(func() error {
		list = s.Place.List(ctx, prefix)
		return nil
	})
	if err != nil {
		return func(yield func(objects.Object, error) bool) { yield(objects.Object{}, err) }
	}
	return list
}

func (s stepped) Delete(ctx context.Context, name string) error {
	return s.do(func() error { return s.Place.Delete(ctx, name) })
}

// putter is a backup location whose writes a test can refuse.
type putter struct {
	objects.Place
	put func(name string) error
}

func (p putter) Put(ctx context.Context, name string, b []byte) error {
	if err := p.put(name); err != nil {
		return err
	}
	return p.Place.Put(ctx, name, b)
}

var errKilled = errors.New("killed")

// killAt returns a step that fails from call n on, as if the process had been killed. Each operation calls the
// step twice, so the operation that fails may have been applied or not.
func killAt(n int) step {
	var mu sync.Mutex
	return func(bool) error {
		mu.Lock()
		defer mu.Unlock()
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}
