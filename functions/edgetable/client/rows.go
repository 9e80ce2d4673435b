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

// RowFlags holds the flags of commands that write rows and resume an interrupted run.
type RowFlags struct {
	Rejects, ProgressFile string
	restart               bool
}

// register adds the flags. The arguments describe the default paths.
func (o *RowFlags) register(f *pflag.FlagSet, rejects, progressFile string) {
	RejectsFlag(f, &o.Rejects, rejects)
	f.StringVar(&o.ProgressFile, "progress-file", "", "`file` that records the progress; default "+progressFile)
	restartFlag(f, &o.restart)
}

// RejectsFlag adds --rejects, which means the same in all commands.
func RejectsFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "rejects", "", "`file` for rows that are refused; default "+usual)
}

// restartFlag adds --restart, which discards earlier progress in all commands.
func restartFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "restart", "discard the progress of an interrupted run, and begin again")
}

// onceUsage is the usage text of --once in all commands that follow changes.
const onceUsage = "end when all changes are read, instead of waiting for more (copy: with --follow)"

// forget removes the progress file if --restart asks for it.
func (o *RowFlags) forget() error {
	if !o.restart || o.ProgressFile == "" {
		return nil
	}
	return progressfile.Remove(o.ProgressFile)
}

// progressOf returns the path of the progress file of a command. The path depends on the verb and the options, so
// the same command finds the file again.
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

// resuming returns a function that prints how many rows an earlier run has finished.
func (p *program) resuming(progress *scan.Progress, says string) func(again bool) {
	return func(again bool) {
		if again {
			p.Note("resuming: %s %s already", cli.Commas(progress.Rows.Load()), says)
		}
	}
}

// doneAgain prints that the work begins again, because the table was deleted and created since an earlier run
// wrote to it.
func (p *program) doneAgain(table string) {
	p.Note("table %s is not the table that an earlier run wrote to: the work begins again", table)
}

// refusals returns a function that prints the first rows that are refused.
func (p *program) refusals(place func(file string, line int) string) func(file string, line int, reason string) {
	shown := 0
	return func(file string, line int, reason string) {
		if shown++; shown <= 10 {
			p.Note("%s: %s", place(file, line), reason)
		}
	}
}

// ended returns the error err with the exit status for partly done work if some is true.
func withStatus(err error, some bool) error {
	if _, wrong := errors.AsType[cli.UsageError](err); err == nil || wrong {
		return err
	}
	if some {
		return cli.Fail(cli.StatusPart, err)
	}
	return err
}

// endedEarly returns the error of incomplete work. The text in says describes what is done and how to resume.
func endedEarly(ctx context.Context, err error, some bool, says string) error {
	switch {
	case ctx.Err() != nil:
		err = errors.New("stopped: " + says)
	case some:
		err = fmt.Errorf("%w\n%s", err, says)
	}
	return withStatus(err, some)
}

// rowsResult holds the numbers of rows by outcome, for scripts.
type rowsResult struct {
	Written      int64      `json:"written"`
	AlreadyThere int64      `json:"alreadyThere"`
	Skipped      int64      `json:"skipped"`
	Refused      int64      `json:"refused"`
	Deleted      int64      `json:"deleted"`
	Dropped      int64      `json:"dropped"` // rows that later rows with the same keys replaced
	DryRun       bool       `json:"dryRun"`
	First        []firstRow `json:"first,omitempty"`
}

// firstRow is one of the first rows that a dry run would write.
type firstRow struct {
	Table  string          `json:"table"`
	Entity json.RawMessage `json:"entity"`
}

// refused is the error of work that is complete except for this number of refused rows.
type refused int64

func (refused) Error() string { return "refused" }

// tellRows prints the result of complete work, in words or as the numbers in r. If rows were refused, it returns a
// failure.
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

// totals returns a sentence about the outcomes of the rows.
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
