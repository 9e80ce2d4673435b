// Package requests counts the requests to an object store, such as a bucket for backups. The costs of a
// bucket depend on the numbers of requests.
package requests

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"

	"edgetable/core/objects"
)

// page is the maximum number of objects in the response to a LIST.
const page = 1000

// Place keeps objects in memory and counts requests. The zero value contains no objects.
type Place struct {
	mu      sync.Mutex
	names   []string // names in sorted order
	objects map[string][]byte
	Counts
}

// Counts holds numbers of requests. A DELETE is not counted, because it costs nothing.
type Counts struct{ List, Put, Get int }

// Times returns the counts multiplied by n.
func (c Counts) Times(n int) Counts { return Counts{n * c.List, n * c.Put, n * c.Get} }

// String formats the numbers as in the documentation.
func (c Counts) String() string {
	var text []string
	for _, one := range []struct {
		name string
		n    int
	}{{"LIST", c.List}, {"PUT", c.Put}, {"GET", c.Get}} {
		switch {
		case one.n >= 1000:
			text = append(text, fmt.Sprintf("%d,%03d %s", one.n/1000, one.n%1000, one.name))
		case one.n > 0:
			text = append(text, fmt.Sprintf("%d %s", one.n, one.name))
		}
	}
	return strings.Join(text, ", ")
}

// Reset returns the counts since the last call.
func (p *Place) Reset() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.Counts
	p.Counts = Counts{}
	return c
}

// Put implements [objects.Place].
func (p *Place) Put(_ context.Context, name string, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Counts.Put++
	if p.objects == nil {
		p.objects = map[string][]byte{}
	}
	if i, there := slices.BinarySearch(p.names, name); !there {
		p.names = slices.Insert(p.names, i, name)
	}
	p.objects[name] = bytes.Clone(b)
	return nil
}

// Get implements [objects.Place].
func (p *Place) Get(_ context.Context, name string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Counts.Get++
	b, there := p.objects[name]
	if !there {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return bytes.Clone(b), nil
}

// Delete implements [objects.Place].
func (p *Place) Delete(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, there := slices.BinarySearch(p.names, name); there {
		p.names = slices.Delete(p.names, i, i+1)
		delete(p.objects, name)
	}
	return nil
}

// List implements [objects.Place].
func (p *Place) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return p.ListAfter(ctx, prefix, "")
}

// ListAfter implements [objects.Ordered]. Each page counts as a request.
func (p *Place) ListAfter(_ context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for n, o := range p.list(prefix, after) {
			if n > 0 && n%page == 0 {
				p.mu.Lock()
				p.Counts.List++
				p.mu.Unlock()
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (p *Place) list(prefix, after string) (list []objects.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Counts.List++
	first, _ := slices.BinarySearch(p.names, max(prefix, after))
	for _, name := range p.names[first:] {
		if !strings.HasPrefix(name, prefix) {
			break
		}
		if name > after {
			list = append(list, objects.Object{Name: name, Size: int64(len(p.objects[name]))})
		}
	}
	return list
}
