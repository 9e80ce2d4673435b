package main

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// reloadEvery is how often files are looked at.
const reloadEvery = time.Second

// watch looks for changes until ctx ends, and at once when the program is asked to
// by SIGHUP.
func watch(ctx context.Context, hangup <-chan os.Signal, log *slog.Logger, reload ...func(asked bool)) {
	tick := time.NewTicker(reloadEvery)
	defer tick.Stop()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
			log.Info("reload", "why", "hangup signal received")
		case <-tick.C:
		}
		for _, f := range reload {
			f(asked)
		}
	}
}
