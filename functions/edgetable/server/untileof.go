package server

import (
	"context"
	"errors"
	"io"
)

var errEOF = errors.New("standard input ended")

// untilEOF returns a context that ends with ctx or when standard input ends. Another process may hold the
// other end of standard input. When this process exits or is killed, the operating system ends standard
// input.
func (p *program) untilEOF(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		_, err := io.Copy(io.Discard, p.In)
		end(errors.Join(errEOF, err))
	}()
	return ctx
}
