package backup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupVerifyCommand() *cobra.Command {
	var id, identity string
	var asJSON bool
	c := &cobra.Command{
		Use: "verify PLACE", Short: "Read all backups in a backup location and report damage",
		Long: placeHelp + "\n\n" +
			"Reads the log and every object that a backup needs, and checks their checksums. With --identity, the\n" +
			"command also decrypts these objects. It reports each gap in the log. The exit status is 4 if an\n" +
			"object is damaged or missing.",
		Example: "  edgetable backup verify /mnt/backup/edgetable",
		RunE: func(c *cobra.Command, args []string) error {
			return p.backupVerify(c.Context(), args[0], id, identity, asJSON)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&id, "backup", "", "`name` of the backup, or its beginning; default all")
		identityFlag(f, &identity)
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

func (p *program) backupVerify(ctx context.Context, location, id, identity string, asJSON bool) error {
	objects, err := place.Open(ctx, location, p.Note)
	if err != nil {
		return err
	}
	with, err := identities(identity)
	if err != nil {
		return err
	}
	r := repository.New(objects)
	all, err := r.List(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	list := all.Complete
	if id != "" {
		m, err := r.Find(ctx, id)
		if err != nil {
			return err
		}
		list, all.Damaged = []*repository.Manifest{m}, nil
	}
	show := cli.NewProgress(p.Err)
	report, err := r.Verify(ctx, list, with, show.Bytes("read"))
	show.End()
	if err != nil {
		return err
	}
	for _, d := range all.Damaged {
		report.Problems = append(report.Problems, fmt.Sprintf("%s is damaged: %v", d.Object, d.Cause))
	}
	log := new(repository.LogReport)
	if id == "" {
		show := cli.NewProgress(p.Err)
		log, err = r.VerifyLog(ctx, with, show.Bytes("read of the log"))
		show.End()
		if err != nil {
			return err
		}
		report.Problems = append(report.Problems, log.Problems...)
	}
	if asJSON {
		v := verified{int64(report.Backups), int64(report.Objects), report.Bytes, append([]string{}, report.Problems...), int64(log.Pieces), log.Bytes, append([]string{}, log.Known...), append([]string{}, log.Notes...), rangesOf(log.Ranges)}
		if err := p.PrintJSON(v); err != nil {
			return err
		}
		return worse(location, len(report.Problems), report.Locked+log.Locked)
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(p.Out, problem)
	}
	fmt.Fprintf(p.Out, "%s: read %s, %s\n", cli.Things(report.Backups, "backups"), cli.Things(report.Objects, "objects"), cli.ShowBytes(report.Bytes))
	if log.Pieces > 0 {
		fmt.Fprintf(p.Out, "%s of the log: read %s with %s\n", cli.Things(log.Pieces, "pieces"), cli.Things(log.Commits, "commits"), cli.ShowBytes(log.Bytes))
	}
	for _, gap := range log.Known {
		fmt.Fprintf(p.Out, "%s: the server knows this gap, and made a new backup after it\n", gap)
	}
	for _, note := range log.Notes {
		fmt.Fprintln(p.Out, note)
	}
	for _, one := range log.Ranges {
		fmt.Fprintf(p.Out, "each moment from %s to %s can be restored\n", one[0], one[1])
	}
	for _, m := range list {
		if len(m.Recipients) > 0 && len(with) == 0 {
			fmt.Fprintln(p.Out, "compared checksums only: name the private key with --identity to decrypt as well")
			break
		}
	}
	return worse(location, len(report.Problems), report.Locked+log.Locked)
}

// verified is the output of backup verify --json.
type verified struct {
	Backups  int64    `json:"backups"`
	Objects  int64    `json:"objects"`
	Bytes    int64    `json:"bytes"`
	Problems []string `json:"problems"`
	Pieces   int64    `json:"pieces"`   // number of pieces of the log
	LogBytes int64    `json:"logBytes"` // total size of the pieces of the log
	Gaps     []string `json:"gaps"`     // gaps in the log, which arose when the server discarded log files
	Notes    []string `json:"notes"`    // problems of objects in the backup location that are not needed to restore the newest history

	Log []oneRange `json:"log"` // time ranges of which every moment can be restored
}

// worse returns an error if a backup location has damaged objects, or objects that the
// key of --identity cannot decrypt.
func worse(location string, n, locked int) error {
	if n == 0 && locked > 0 {
		return fmt.Errorf("--identity: the key in this file does not decrypt %s of %s, although the checksums are right: name the file with the key for which these objects were encrypted", cli.Things(locked, "objects"), location)
	}
	if n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s is damaged: %s", location, cli.Things(n, "problems")))
	}
	return nil
}
