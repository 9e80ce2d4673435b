package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"edgetable/core/percent"
	"edgetable/core/traffic"
)

// Statistics returns those that the buckets of a table on Workers keep.
func (c *Client) Statistics(ctx context.Context, table string) (*traffic.Report, error) {
	fail := func(err error) (*traffic.Report, error) {
		return nil, fmt.Errorf("reading the statistics of table %s of %s: %w", table, c.endpoint, err)
	}
	var buckets [][]*traffic.Tally
	query := "comp=traffic"
	for {
		resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + string(percent.AppendEscaped(nil, table)), query: query}, nil)
		if answer, ok := errors.AsType[*Error](err); ok && (answer.Status == http.StatusNotImplemented || answer.Code == "InvalidQueryParameterValue") {
			return fail(ErrNoTraffic)
		}
		if err != nil {
			return fail(err)
		}
		if strings.HasPrefix(resp.header.Get("Content-Type"), "application/json") {
			return fail(ErrNoTraffic) // Azurite answers with entities
		}
		part, ok := traffic.ReadBuckets(resp.body)
		if !ok {
			return fail(errors.New("the answer is damaged"))
		}
		buckets = append(buckets, part...)
		next := resp.header.Get("x-ms-continuation-NextTableName")
		if next == "" {
			return traffic.Merge(c.Endpoint().Account(), table, buckets), nil
		}
		query = "comp=traffic&NextTableName=" + escaped(next)
	}
}

// ErrNoTraffic says who counts traffic.
var ErrNoTraffic = errors.New("this service does not tell what traffic it has. Workers with Durable Objects do; a server tells it on its machine, with --data; " +
	"Lambda and Azure do not count: on AWS, CloudWatch Contributor Insights of the DynamoDB table shows its busiest hash keys (docs/aws.md)")
