package stores

import (
	"context"
	"time"
)

// Job is work of a server beside its requests. It may use the store until Run returns.
type Job struct {
	Name  string
	Every time.Duration             // how often it does something, for the log
	Run   func(ctx context.Context) // until ctx ends
	End   func()                    // when no request and no job runs any more; may be nil
}
