package backup

import (
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/backup/repository/encryption"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

// Flags are the flags of a server that makes scheduled backups.
type Flags struct {
	To    string
	Every time.Duration
	Log   time.Duration // interval at which the log is shipped; 0 means that it is not shipped
	limit int64         // maximum size of the log files that have not been shipped yet
	keep  repository.Retention
	keys  []string
}

// KeepLogs returns the maximum size of the unshipped log files that the store keeps.
func (o *Flags) KeepLogs() int64 {
	if o.Log == 0 {
		return 0
	}
	return o.limit
}

func (o *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.To, "backup-to", "", "`place` for backups of the data directory: another directory, or s3://BUCKET/PREFIX; default none")
	cli.DurationFlag(f, &o.Every, "backup-every", time.Hour, time.Second, cli.MaxTime, "time between two backups")
	cli.DurationFlag(f, &o.Log, "backup-log", 0, 0, cli.MaxTime, "time between two shipments of the log; if the machine is lost, at most the writes of this time are lost; each moment can be restored; 0 means that only backups are made")
	cli.SizeFlag(f, &o.limit, "backup-log-keep", 1<<30, 64<<20, 1<<44, "maximum `size` of the logs that are kept while the backup location does not respond; above it, the logs are removed, and a new backup is made")
	cli.ValueFlag(f, &o.keep, "backup-keep", "rules", "`rules` for the backups to keep, such as last=24,daily=30, older-than=30d (all younger backups) or point-in-time=7d, with the meaning that these flags have in 'edgetable backup prune'; default all", parseKeep, showKeep)
	recipientsFlag(f, &o.keys, "backup-encrypt-to")
}

// Check returns an error for flags that contradict each other.
func (o *Flags) Check(given func(flag string) bool) error {
	if o.To != "" {
		if err := place.Check(o.To); err != nil {
			return cli.Misuse("--backup-to: %v", err)
		}
	}
	if given("backup-log-keep") && o.Log == 0 {
		return cli.Misuse("--backup-log-keep needs --backup-log")
	}
	if o.keep.PointInTime > 0 && o.Log == 0 {
		return cli.Misuse("--backup-keep point-in-time=… needs --backup-log: without the log, only the moments of the backups can be restored")
	}
	for _, name := range []string{"backup-every", "backup-log", "backup-keep", "backup-encrypt-to"} {
		if given(name) && o.To == "" {
			return cli.Misuse("--%s needs --backup-to", name)
		}
	}
	_, err := encryption.ParseRecipients(o.keys)
	if err != nil {
		return cli.Misuse("--backup-encrypt-to: %v", err)
	}
	return nil
}
