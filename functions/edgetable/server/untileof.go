package server

import (
	"context"
	"errors"
	"io"
)

var errEOF = errors.New("standard input ended")

// untilEOF returns a context that is canceled with ctx or at the end of standard input. If the parent process holds the
// other end of standard input, this also detects that the parent was killed.
func (p *program) untilEOF(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		_, err := io.Copy(io.Discard, p.In)
		end(errors.Join(errEOF, err))
	}()
	return ctx
}
