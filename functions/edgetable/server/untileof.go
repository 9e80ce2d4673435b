package server

import (
	"context"
	"errors"
	"io"
)

var errEOF = errors.New("standard input ended")

// untilEOF returns a context that is canceled with ctx or at the end of standard input. The input also ends if a parent
// process that holds its other end is killed.
func (p *program) untilEOF(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		_, err := io.Copy(io.Discard, p.In)
		end(errors.Join(errEOF, err))
	}()
	return ctx
}
