package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/memstore"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// BenchmarkStatistics measures point reads by the handler alone, without a network,
// with and without the statistics of traffic: of one partition and of many. The
// share of the statistics of a whole server is smaller. Compare the medians of
// interleaved runs:
//
//	go test ./functions/edgetable -run '^$' -bench Statistics -count 10
func BenchmarkStatistics(b *testing.B) {
	k, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	if err != nil {
		b.Fatal(err)
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: "bench", Keys: [2]*sharedkey.Key{k}}}
	h := &protocol.Handler{
		Service: newService(memstore.New(now), 0), Now: now, NewID: protocol.RandomID(rand.Uint64),
		Accounts: func(string) (*protocol.Account, bool) { return account, true },
	}
	if err := h.Service.CreateTable(b.Context(), table.Name{Account: "bench", Table: "People"}); err != nil {
		b.Fatal(err)
	}
	var list []*protocol.Request
	for i := range 2000 {
		op := table.Operation{Action: table.Insert, PartitionKey: fmt.Sprintf("customer-%06d", i), RowKey: "profile"}
		if _, err := h.Service.Write(b.Context(), table.Name{Account: "bench", Table: "People"}, op); err != nil {
			b.Fatal(err)
		}
		target := fmt.Sprintf("/bench/People(PartitionKey='%s',RowKey='profile')", op.PartitionKey)
		date := sharedkey.FormatDate(time.Now())
		list = append(list, &protocol.Request{
			Method: "GET", Target: target, Host: "127.0.0.1:10002", Scheme: "http",
			Header: protocol.Header{
				"Authorization": {k.Authorization(sharedkey.SharedKeyLite, "bench", sharedkey.Request{Method: "GET", Path: target, XMSDate: date})},
				"X-Ms-Date":     {date}, "X-Ms-Version": {"2019-02-02"}, "Accept": {"application/json;odata=nometadata"},
			},
		})
	}
	for _, partitions := range []int{1, len(list)} {
		for _, counted := range []bool{false, true} {
			b.Run(fmt.Sprintf("partitions=%d/counted=%v", partitions, counted), func(b *testing.B) {
				s := openStatistics("", slog.New(slog.DiscardHandler))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					resp := h.Serve(context.Background(), list[i%partitions])
					if resp.Status != 200 {
						b.Fatalf("%d %s", resp.Status, resp.Body)
					}
					if counted {
						s.observe(&resp)
					}
					resp.Release()
				}
			})
		}
	}
}
