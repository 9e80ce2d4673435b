package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"edgetable/core/traffic"
)

// Statistics returns the traffic statistics of a table, from a server or from the table's Durable Objects.
func (c *Client) Statistics(ctx context.Context, table string) (*traffic.Report, error) {
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/" + escaped(table), query: "comp=traffic"}, nil)
	r := new(traffic.Report)
	if answer, ok := errors.AsType[*Error](err); ok && (answer.Status == http.StatusNotImplemented || answer.Code == "InvalidQueryParameterValue") {
		err = ErrNoTraffic
	} else if err == nil && (json.Unmarshal(resp.body, r) != nil || len(r.Map.Starts) == 0) {
		err = ErrNoTraffic // Azurite ignores the query string and returns entities
	}
	if err != nil {
		return nil, fmt.Errorf("reading the statistics of table %s of %s: %w", table, c.endpoint, err)
	}
	return r, nil
}

// ErrNoTraffic means that the service does not count traffic. Only edgetable servers and Workers with Durable Objects
// count it.
var ErrNoTraffic = errors.New("this service does not report its traffic. Only edgetable servers and Workers with Durable Objects count traffic; " +
	"the Lambda function and Azure count no traffic. On AWS, CloudWatch Contributor Insights of the DynamoDB table shows its busiest hash keys (docs/aws.md)")
