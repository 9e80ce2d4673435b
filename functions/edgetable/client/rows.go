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

// RowFlags holds the flags of commands that write rows and can resume an interrupted run.
type RowFlags struct {
	Rejects, ProgressFile string
	restart               bool
}

// register adds the flags. The arguments are descriptions of the default paths, for the help.
func (o *RowFlags) register(f *pflag.FlagSet, rejects, progressFile string) {
	RejectsFlag(f, &o.Rejects, rejects)
	f.StringVar(&o.ProgressFile, "progress-file", "", "`file` that records the progress; default "+progressFile)
	restartFlag(f, &o.restart)
}

// RejectsFlag adds --rejects, which has the same meaning in all commands.
func RejectsFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "rejects", "", "`file` for rows that are refused; default "+usual)
}

// restartFlag adds --restart, which has the same meaning in all commands.
func restartFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "restart", "discard the progress of an interrupted run, and begin again")
}

// OnceFlag adds --once, which has the same meaning in all commands that follow changes.
func OnceFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "once", "end when all changes are read, instead of waiting for more changes; 'edgetable copy' needs --follow for this flag")
}

// forget removes the progress file if --restart was given.
func (o *RowFlags) forget() error {
	if !o.restart || o.ProgressFile == "" {
		return nil
	}
	return progressfile.Remove(o.ProgressFile)
}

// progressOf returns the path of the progress file of a command. The path depends on the command and its options,
// so a second run of the same command finds the file.
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

// resuming returns a function that prints how many rows an earlier run has processed.
func (p *program) resuming(progress *scan.Progress, says string) func(again bool) {
	return func(again bool) {
		if again {
			p.Note("resuming: %s %s already", cli.Commas(progress.Rows.Load()), says)
		}
	}
}

// doneAgain prints that the work begins again. The table of an earlier run was deleted, and a new table has the same name.
func (p *program) doneAgain(table string) {
	p.Note("table %s is not the table that an earlier run wrote to: the work begins again", table)
}

// refusals returns a function that prints the first refused rows.
func (p *program) refusals(place func(file string, line int) string) func(file string, line int, reason string) {
	shown := 0
	return func(file string, line int, reason string) {
		if shown++; shown <= 10 {
			p.Note("%s: %s", place(file, line), reason)
		}
	}
}

// withStatus returns err with an exit status. With some=true, the status says that a part of the work was done.
func withStatus(err error, some bool) error {
	if _, wrong := errors.AsType[cli.UsageError](err); err == nil || wrong {
		return err
	}
	if some {
		return cli.Fail(cli.StatusPart, err)
	}
	return err
}

// endedEarly returns the error of incomplete work. The last parameter is a text about the completed part, and about how to resume.
func endedEarly(ctx context.Context, err error, some bool, says string) error {
	switch {
	case ctx.Err() != nil:
		err = errors.New("stopped: " + says)
	case some:
		err = fmt.Errorf("%w\n%s", err, says)
	}
	return withStatus(err, some)
}

// rowsResult contains the number of rows for each outcome. It is printed as JSON.
type rowsResult struct {
	Written      int64      `json:"written"`
	AlreadyThere int64      `json:"alreadyThere"`
	Skipped      int64      `json:"skipped"`
	Refused      int64      `json:"refused"`
	Deleted      int64      `json:"deleted"`
	Dropped      int64      `json:"dropped"` // rows that were dropped because later rows had the same keys
	DryRun       bool       `json:"dryRun"`
	First        []firstRow `json:"first,omitempty"`
}

// firstRow is one of the rows that a dry run prints as examples.
type firstRow struct {
	Table  string          `json:"table"`
	Entity json.RawMessage `json:"entity"`
}

// refused is an error: the work is complete, but some rows were refused. The value is the number of these rows.
type refused int64

func (refused) Error() string { return "refused" }

// tellRows prints the result of complete work: the numbers in r with --json, otherwise the text in the second argument. If rows were refused,
// tellRows returns a failure.
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
		return withStatus(fmt.Errorf("%s %w: %s", cli.Things(t.Rejected, "rows"), refused(t.Rejected), reasons), some)
	}
	return nil
}

// totals returns a sentence with the number of rows for each outcome.
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
