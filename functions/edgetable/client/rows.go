package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/scan"
)

// RowFlags are the flags of commands that write rows and can resume.
type RowFlags struct {
	Rejects, ProgressFile string
	restart               bool
}

// register adds the flags. rejects and progressFile describe the default paths in the help.
func (o *RowFlags) register(f *pflag.FlagSet, rejects, progressFile string) {
	RejectsFlag(f, &o.Rejects, rejects)
	f.StringVar(&o.ProgressFile, "progress-file", "", "`file` that records the progress; default "+progressFile)
	restartFlag(f, &o.restart)
}

// RejectsFlag adds --rejects, the file of rejects.
func RejectsFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "rejects", "", "`file` for rows that are refused; default "+usual)
}

func restartFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "restart", "discard the progress of an interrupted run, and begin again")
}

// OnceFlag adds --once to commands that follow changes.
func OnceFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "once", "end when all changes are read, instead of waiting for more changes; 'edgetable copy' needs --follow for this flag")
}

// removeProgress removes the progress file if --restart is set.
func (o *RowFlags) removeProgress() error {
	if !o.restart || o.ProgressFile == "" {
		return nil
	}
	return progressfile.Remove(o.ProgressFile)
}

// progressOf returns the path of a command's progress file. It depends on the command and its options, so that the same
// command finds the file again.
func progressOf(verb string, work any) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no directory for a progress file: %w; --progress-file names a file", err)
	}
	dir = filepath.Join(dir, "edgetable")
	options, err := json.Marshal(work)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(options)
	return filepath.Join(dir, verb+"-"+hex.EncodeToString(sum[:8])+".progress"), os.MkdirAll(dir, 0o700)
}

// resuming returns a function that prints the number of rows that an earlier run has processed.
func (p *program) resuming(progress *scan.Progress, says string) func(again bool) {
	return func(again bool) {
		if again {
			p.Note("resuming: %s %s already", cli.Commas(progress.Rows.Load()), says)
		}
	}
}

// doneAgain reports that work starts from the beginning, because the table of an earlier run was deleted and created
// again.
func (p *program) doneAgain(table string) {
	p.Note("table %s is not the table that an earlier run wrote to: the work begins again", table)
}

// refusals returns a function that prints the first rejects.
func (p *program) refusals(place func(file string, line int) string) func(file string, line int, reason string) {
	shown := 0
	return func(file string, line int, reason string) {
		if shown++; shown <= 10 {
			p.Note("%s: %s", place(file, line), reason)
		}
	}
}

// withStatus adds an exit status to err. The status depends on whether a part of the work was done.
func withStatus(err error, some bool) error {
	if _, wrong := errors.AsType[cli.UsageError](err); err == nil || wrong {
		return err
	}
	if some {
		return cli.Fail(cli.StatusPart, err)
	}
	return err
}

// endedEarly returns the error for incomplete work. Its text describes the finished part of the work and how to resume.
func endedEarly(ctx context.Context, err error, some bool, says string) error {
	switch {
	case ctx.Err() != nil:
		err = errors.New("stopped: " + says)
	case some:
		err = fmt.Errorf("%w\n%s", err, says)
	}
	return withStatus(err, some)
}

// rowsResult is the number of rows by outcome, for JSON output.
type rowsResult struct {
	Written      int64      `json:"written"`
	AlreadyThere int64      `json:"alreadyThere"`
	Skipped      int64      `json:"skipped"`
	Refused      int64      `json:"refused"`
	Deleted      int64      `json:"deleted"`
	Dropped      int64      `json:"dropped"` // rows that were replaced by later rows with the same keys
	DryRun       bool       `json:"dryRun"`
	First        []firstRow `json:"first,omitempty"`
}

// firstRow is a row that a dry run prints as an example.
type firstRow struct {
	Table  string          `json:"table"`
	Entity json.RawMessage `json:"entity"`
}

// rejectsError is the error of a command that has finished its work, but with rejects. The value is the number of
// rejects.
type rejectsError int64

func (rejectsError) Error() string { return "refused" }

// tellRows prints the result of finished work, as JSON or as text. It returns an error if there are rejects.
func (p *program) tellRows(t progressfile.Totals, says string, r rowsResult, reasons string, some bool) error {
	if p.Events {
		r.Written, r.AlreadyThere, r.Skipped, r.Refused, r.Deleted, r.Dropped = t.Written, t.Same, t.Skipped, t.Rejected, t.Deleted, t.Dropped
		if err := p.PrintJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(p.Out, says)
	}
	if t.Rejected > 0 {
		return withStatus(fmt.Errorf("%s %w: %s", cli.Things(t.Rejected, "rows"), rejectsError(t.Rejected), reasons), some)
	}
	return nil
}

// totals returns a sentence with the number of rows by outcome.
func totals(t progressfile.Totals, written, deleted string) string {
	text := cli.Things(t.Written, "rows") + " " + written
	for _, one := range []struct {
		n    int64
		says string
	}{{t.Same, "there already"}, {t.Skipped, "skipped"}, {t.Rejected, "refused"}, {t.Deleted, deleted}, {t.Dropped, "dropped, because a later row has the same keys"}} {
		if one.n > 0 {
			text += fmt.Sprintf(", %s %s", cli.Commas(one.n), one.says)
		}
	}
	return text
}
