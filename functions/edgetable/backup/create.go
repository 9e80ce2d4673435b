package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupCreateCommand() *cobra.Command {
	var data, socket string
	var keys []string
	c := &cobra.Command{
		Use: "create PLACE", Short: "Make a backup of a data directory",
		Long: placeHelp + "\n\n" +
			"The command also works while a server uses the data directory. To resume an interrupted backup, run\n" +
			"the same command again.",
		Example: `  edgetable backup create /mnt/backup/edgetable --data /var/lib/edgetable
  edgetable backup create 's3://bucket/edgetable?region=eu-central-1' --encrypt-to age1…`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.backupCreate(c.Context(), args[0], data, socket, keys)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.DataFlag(f, &data, "a server may be using it")
		cli.AdminFlag(f, &socket, "")
		recipientsFlag(f, &keys, "encrypt-to")
	})
	return c
}

func (p *program) backupCreate(ctx context.Context, location, data, socket string, keys []string) error {
	objects, err := place.Open(ctx, location, p.Note)
	if err != nil {
		return err
	}
	store, end, err := openForBackup(data, socket)
	if err != nil {
		return err
	}
	defer end()
	show := cli.NewProgress(p.Err)
	m, err := (&run{data: data, location: location, place: objects, store: store, keys: keys, progress: show.Bytes("stored")}).create(ctx)
	show.End()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; run it again to continue")
	}
	if err != nil {
		return err
	}
	if n := len(m.Mended); n > 0 {
		fmt.Fprintf(p.Err, "%s\n", mended(n, m.Mended[0]))
	}
	fmt.Fprintf(p.Out, "backup %s: %s, %s, of which %s are new\n", m.ID, cli.Things(len(m.Files), "files"), cli.ShowBytes(m.Size()), cli.ShowBytes(m.New))
	return nil
}

// mended returns a message that a backup has replaced damaged objects of earlier backups. The message contains the
// number of these objects and the name of one of them.
func mended(n int, first string) string {
	return fmt.Sprintf("damaged in earlier backups: %s. This backup has stored their content again. 'edgetable backup verify' names the backups that need these objects. The first of these objects is %s", cli.Things(n, "objects"), first)
}
