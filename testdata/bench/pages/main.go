// Command pages reads all pages of a table and discards them, which is the least that a client can do. It prints the
// number of pages. 'make bench-data' compares 'edgetable export' with this command.
//
//	pages CONNECTION-STRING TABLE [PARTITION…]
//
// The partitions divide the table into ranges. Each range is read over its own connection.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/core/sharedkey"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "write: pages CONNECTION-STRING TABLE [PARTITION…]")
		os.Exit(2)
	}
	n, err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
	fmt.Println(n, "pages")
}

func run(ctx context.Context, connection, table string, bounds []string) (pages int64, err error) {
	said := map[string]string{}
	for _, one := range strings.Split(connection, ";") {
		name, value, _ := strings.Cut(one, "=")
		said[name] = value
	}
	key, err := sharedkey.ParseKey(said["AccountKey"])
	if err != nil {
		return 0, err
	}
	var n atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range len(bounds) + 1 {
		var filter []string
		if i > 0 {
			filter = append(filter, "PartitionKey ge '"+bounds[i-1]+"'")
		}
		if i < len(bounds) {
			filter = append(filter, "PartitionKey lt '"+bounds[i]+"'")
		}
		g.Go(func() error {
			query := url.Values{}
			if filter != nil {
				query.Set("$filter", strings.Join(filter, " and "))
			}
			for more := true; more; n.Add(1) {
				h, err := page(ctx, said["TableEndpoint"]+"/"+table+"()", query.Encode(), said["AccountName"], key)
				if err != nil {
					return err
				}
				partition, row := h.Get("x-ms-continuation-NextPartitionKey"), h.Get("x-ms-continuation-NextRowKey")
				query.Set("NextPartitionKey", partition)
				query.Set("NextRowKey", row)
				more = partition != ""
			}
			return nil
		})
	}
	err = g.Wait()
	return n.Load(), err
}

// page reads one page and returns the headers of the response.
func page(ctx context.Context, address, query, account string, key *sharedkey.Key) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query, nil)
	if err != nil {
		return nil, err
	}
	date := sharedkey.FormatDate(time.Now())
	req.Header["x-ms-date"] = []string{date}
	req.Header["x-ms-version"] = []string{"2019-02-02"}
	req.Header.Set("Accept", "application/json;odata=minimalmetadata")
	req.Header.Set("Authorization", key.Authorization(sharedkey.SharedKeyLite, account,
		sharedkey.Request{Method: req.Method, Path: req.URL.EscapedPath(), RawQuery: query, XMSDate: date}))
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the service answers %s", answer.Status)
	}
	return answer.Header, nil
}
