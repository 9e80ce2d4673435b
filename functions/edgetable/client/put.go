package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

func (p *program) putCommand() *cobra.Command {
	var o ServiceFlags
	var mode string
	c := &cobra.Command{
		Use: "put TABLE ENTITY", Short: "Write an entity",
		Long: "ENTITY is a JSON object with PartitionKey and RowKey, or - for standard input. A whole number is an Int32, a number\n" +
			"with a decimal point a Double. Other types need an annotation, as in a response: \"N@odata.type\": \"Edm.Int64\", \"N\": \"5\".",
		Example: `  edgetable put People '{"PartitionKey":"a","RowKey":"1","Born":1815}' --to prod`,
		RunE:    func(c *cobra.Command, args []string) error { return p.put(c.Context(), &o, mode, args[0], args[1]) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.ToFlag(f)
		ModeFlag(f, &mode, "replace", "insert", "merge", "replace")
	})
	return c
}

func (p *program) put(ctx context.Context, o *ServiceFlags, mode, table, text string) error {
	if text == "-" {
		body, err := io.ReadAll(p.In)
		if err != nil {
			return err
		}
		text = string(body)
	}
	e, err := payload.ReadEntity([]byte(text))
	if err != nil {
		return cli.Misuse("ENTITY: %s Write a JSON object such as '{\"PartitionKey\":\"a\",\"RowKey\":\"1\",\"Name\":\"Grace\"}', or - for standard input", detail(err))
	}
	if !e.HasPartitionKey || !e.HasRowKey {
		return cli.Misuse("ENTITY has no PartitionKey or no RowKey")
	}
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Write(ctx, table, &remote.Operation{Kind: transfer.Kinds[mode], PartitionKey: e.PartitionKey, RowKey: e.RowKey,
		Body: payload.AppendJSON(nil, e.PartitionKey, e.RowKey, 0, e.Properties)})
	if err != nil {
		if refused, ok := errors.AsType[*remote.Error](err); ok && refused.Code == "TableNotFound" {
			refused.Advice = fmt.Sprintf("'edgetable tables create %s' creates it", table)
		}
		return fmt.Errorf("writing to table %s: %w", table, err)
	}
	return nil
}

// detail returns the text of a protocol error without the first sentence, which repeats the code.
func detail(err error) string {
	refused, ok := errors.AsType[*table.Error](err)
	if !ok {
		return err.Error()
	}
	if _, more, ok := strings.Cut(refused.Message, ". "); ok {
		return more
	}
	return refused.Message
}
