package server

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/descriptors"
	"edgetable/functions/edgetable/reload"
	"edgetable/functions/edgetable/stores"
)

// jobs returns the background jobs of the server, followed by the jobs of the store.
func (s *serving) jobs(hangup <-chan os.Signal, ticks <-chan time.Time, backups *backup.Schedule) []stores.Job {
	list := []stores.Job{
		{Name: "files", Interval: reload.Every, Run: func(ctx context.Context) { s.reload(ctx, ticks, hangup) }, End: func() { s.accounts.NoteUsed(0) }},
		{Name: "statistics", Interval: keptEvery, Run: s.statistics.saveLoop, End: s.statistics.write},
	}
	if backups != nil {
		list = append(list, stores.Job{Name: "backups", Interval: s.backup.Every, Run: backups.Serve})
	}
	if backups.ShipsLog() {
		list = append(list, stores.Job{Name: "log", Interval: s.backup.Log, Run: backups.ServeLog, End: backups.EndLog}, stores.Job{Name: "pieces", Run: backups.JoinPieces})
	}
	if s.expiry != nil {
		list = append(list, stores.Job{Name: "expiry", Interval: expireEvery, Run: s.expiry.run})
	}
	if s.feeds != nil {
		list = append(list, stores.Job{Name: "feeds", Interval: trimEvery, Run: s.feeds.run})
	}
	if s.follower != nil {
		list = append(list, stores.Job{Name: "secondary", Run: s.follower.Serve})
	}
	return append(list, s.backend.Jobs...)
}

// startJobs starts the jobs, which run until ctx is done. The returned function waits until all jobs have ended.
func startJobs(ctx context.Context, jobs []stores.Job, log *slog.Logger) (wait func()) {
	var running sync.WaitGroup
	for _, job := range jobs {
		running.Go(func() {
			log.Debug("a background job begins", "job", job.Name, "every", job.Interval)
			job.Run(ctx)
			log.Debug("a background job ended", "job", job.Name)
		})
	}
	return func() {
		running.Wait()
		for _, job := range jobs {
			if job.End != nil {
				job.End()
			}
		}
	}
}

func (s *serving) reload(ctx context.Context, ticks <-chan time.Time, hangup <-chan os.Signal) {
	list := []func(asked bool){s.accounts.Reload, func(bool) { descriptors.Fill() }}
	if s.certificate != nil {
		list = append(list, s.certificate.reload)
	}
	if s.access != nil {
		list = append(list, s.access.Reload)
	}
	if s.metricsKey != nil {
		list = append(list, s.metricsKey.reload)
	}
	reload.Watch(ctx, ticks, hangup, s.log, list...)
}
