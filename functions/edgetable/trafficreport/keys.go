package trafficreport

import (
	"context"
	"iter"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/transfer/scan"
)

// ReadKeys reads all entities of a table over several connections, and describes them.
func ReadKeys(ctx context.Context, c *remote.Client, table string, connections int, read *scan.Progress) (*advise.Stored, error) {
	parts, err := scan.ReadRanges(ctx, c, remote.Query{Table: table}, connections, read, func(list iter.Seq2[payload.Received, error]) (advise.Stored, error) {
		var one advise.Stored
		for e, err := range list {
			if err != nil {
				return one, err
			}
			one.Add(e.PartitionKey, e.RowKey, e.Properties)
			read.Rows.Add(1)
		}
		return one, nil
	})
	if err != nil {
		return nil, err
	}
	return advise.Join(parts), nil
}
