package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list PLACE", Short: "List the backups in a backup location", Long: placeHelp,
		Example: "  edgetable backup list /mnt/backup/edgetable",
		RunE:    func(c *cobra.Command, args []string) error { return p.backupList(c.Context(), args[0], asJSON) },
	}
	cli.JSONFlag(c.Flags(), &asJSON)
	return c
}

// listed is the output of backup list --json.
type listed struct {
	Backups    []oneBackup `json:"backups"`
	Unfinished []oneBackup `json:"unfinished"` // backups that are in progress or were interrupted
	Damaged    []badBackup `json:"damaged"`
	Log        []oneRange  `json:"log"` // time ranges of which every moment can be restored
}

type oneRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func rangesOf(log repository.Ranges) []oneRange {
	list := []oneRange{}
	for _, one := range log {
		list = append(list, oneRange{one[0].String(), one[1].String()})
	}
	return list
}

type oneBackup struct {
	ID        string `json:"id"`
	From      string `json:"from"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
	NewBytes  int64  `json:"newBytes"`
	Encrypted bool   `json:"encrypted"`
}

type badBackup struct {
	Object string `json:"object"`
	Cause  string `json:"cause"`
}

func describe(all *repository.Backups, log repository.Ranges) listed {
	l := listed{[]oneBackup{}, []oneBackup{}, []badBackup{}, rangesOf(log)}
	for _, m := range all.Complete {
		l.Backups = append(l.Backups, oneBackup{m.ID, m.From, len(m.Files), m.Size(), m.New, len(m.Recipients) > 0})
	}
	for _, m := range all.Unfinished {
		l.Unfinished = append(l.Unfinished, oneBackup{ID: m.ID, From: m.From})
	}
	for _, d := range all.Damaged {
		l.Damaged = append(l.Damaged, badBackup{fmt.Sprint(d.Object), fmt.Sprint(d.Cause)})
	}
	return l
}

func (p *program) backupList(ctx context.Context, location string, asJSON bool) error {
	objects, err := place.Open(ctx, location, p.Note)
	if err != nil {
		return err
	}
	r := repository.New(objects)
	all, err := r.List(ctx)
	if _, gone := os.Stat(location); errors.Is(err, repository.ErrNone) && !strings.Contains(location, "://") && errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s: is its disk mounted?", location)
	}
	if err == nil && len(all.Complete)+len(all.Unfinished)+len(all.Damaged) == 0 { // the location was prepared for a store, or has lost its backups
		err = repository.ErrNone
	}
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	log, logErr := r.Ranges(ctx)
	if logErr != nil {
		logErr = cli.Fail(cli.StatusDamage, fmt.Errorf("%s: no moment can be restored: %w", location, logErr))
	}
	if asJSON {
		if err := p.PrintJSON(describe(all, log)); err != nil {
			return err
		}
		return cmp.Or(damaged(all), logErr)
	}
	t := cli.Table{Heads: []string{"=backup", "from", ">files", ">size", ">new", "=encrypted"}}
	for _, m := range all.Complete {
		encrypted := "no"
		if len(m.Recipients) > 0 {
			encrypted = "yes"
		}
		t.Rows = append(t.Rows, []string{m.ID, m.From, cli.Commas(int64(len(m.Files))), cli.ShowBytes(m.Size()), cli.ShowBytes(m.New), encrypted})
	}
	if len(t.Rows) > 0 {
		p.PrintTable(&t)
	}
	for _, m := range all.Unfinished {
		fmt.Fprintln(p.Out, p.Wrap(0, fmt.Sprintf("the backup %s of %s is not complete: it is running, or was interrupted", m.ID, m.From)))
	}
	for _, one := range log {
		fmt.Fprintln(p.Out, p.Wrap(0, fmt.Sprintf("each moment from %s to %s can be restored with --to-time", one[0], one[1])))
	}
	return cmp.Or(damaged(all), logErr)
}

// damaged returns an error if manifests cannot be read.
func damaged(all *repository.Backups) error {
	if len(all.Damaged) == 0 {
		return nil
	}
	d := all.Damaged[0]
	return cli.Fail(cli.StatusDamage, fmt.Errorf("%s damaged: %s: %w", cli.Things(len(all.Damaged), "manifests"), d.Object, d.Cause))
}
