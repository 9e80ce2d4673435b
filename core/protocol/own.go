package protocol

import (
	"context"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// Azure does not have the operations in this file. Only an account key permits them.

func (c *call) getOptions(ctx context.Context) (answer, error) {
	t, revision, err := c.Service.TableTraits(ctx, c.name())
	return answer{
		status: 200,
		header: multipart.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "ETag", Value: `"` + string(revision) + `"`}},
		body:   payload.AppendOptions(nil, t, c.Now()),
	}, err
}

// setOptions answers PUT comp=options. It replaces all options of the table.
func (c *call) setOptions(ctx context.Context) (answer, error) {
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	o, err := payload.ReadOptions(body)
	if err != nil {
		return answer{}, err
	}
	match := strings.TrimSpace(strings.Join(c.header.Values("If-Match"), ","))
	revision := table.Revision(strings.Trim(match, `"`))
	switch {
	case match == "*":
		revision = ""
	case match != "" && revision == "": // for SetTableOptions, an empty revision would mean no condition
		return answer{}, table.ConditionNotMet.Err()
	}
	return answer{status: 204}, c.Service.SetTableOptions(ctx, c.name(), revision, o)
}

// getTraffic answers comp=traffic. Only an account key permits it, because the statistics contain filters and keys.
func (c *call) getTraffic(ctx context.Context) (answer, error) {
	a := answer{status: 200, header: multipart.Header{{Name: "Content-Type", Value: "application/json"}}}
	if c.Traffic == nil {
		report, err := c.Service.Traffic(ctx, c.name())
		if err == nil {
			a.body = payload.AppendReport(nil, report)
		}
		return a, err
	}
	_, err := c.Service.TableACL(ctx, c.name()) // this call returns an error if the table does not exist
	if err == nil {
		a.body, err = c.Traffic(c.account.Name, c.name().Table)
	}
	return a, err
}

// restoreTable answers comp=restore, which restores a table to an earlier state or undoes a restore. It discards later
// writes of all clients, so it requires an account key.
func (c *call) restoreTable(ctx context.Context) (answer, error) {
	if c.options.Time == nil {
		return answer{}, errTime
	}
	to := table.UndoRestore
	if *c.options.Time != "undo" {
		var err error
		if to, err = edm.ParseDateTime(*c.options.Time); err != nil {
			return answer{}, errTime
		}
	}
	did, err := c.Service.Restore(ctx, c.name(), to)
	return answer{status: 200, body: did, header: multipart.Header{{Name: "Content-Type", Value: "text/plain"}}}, err
}

var errTime = table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The parameter named time must be a time such as 2026-11-23T14:03:07Z, or the word undo.")
