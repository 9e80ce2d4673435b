package protocol

import (
	"context"
	"strconv"

	"edgetable/core/multipart"
	"edgetable/core/table"
)

// trafficNext is the header with the option of the same name for the next part, as in
// a list of tables.
const trafficNext = "x-ms-continuation-NextTableName"

// getTraffic answers comp=traffic, an operation of our own: the statistics of a table.
// They have keys of entities and filters, so that only the account's key permits it.
func (c *call) getTraffic(ctx context.Context) (answer, error) {
	if err := c.admit(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	var from uint64
	if text := c.options.nextTable; text != nil {
		var err error
		if from, err = strconv.ParseUint(*text, 10, 16); err != nil {
			return answer{}, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. NextTableName must be that of the answer before.")
		}
	}
	part, next, err := c.Service.Traffic(ctx, c.name(), uint16(from))
	if err != nil {
		return answer{}, err
	}
	a := answer{status: 200, body: part, header: multipart.Header{{Name: "Content-Type", Value: "application/octet-stream"}}}
	if next > 0 {
		a.header = append(a.header, multipart.Field{Name: trafficNext, Value: strconv.Itoa(int(next))})
	}
	return a, nil
}
