package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/functions/edgetable/server"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// BenchmarkStatistics measures point reads in the protocol handler without a network. It compares
// handlers with and without traffic statistics, for reads of one partition and of many partitions.
// In a whole server, the statistics have a smaller share of the cost. Compare the medians of
// interleaved runs:
//
//	go test ./functions/edgetable -run '^$' -bench Statistics -count 10
func BenchmarkStatistics(b *testing.B) {
	k, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(b, err)
	account := &protocol.Account{Account: sharedkey.Account{Name: "bench", Keys: [2]*sharedkey.Key{k}}}
	h := &protocol.Handler{
		Service: stores.NewService(memstore.New(stores.Now), 0), Now: stores.Now, NewID: protocol.RandomID(rand.Uint64),
		Accounts: func(string) (*protocol.Account, bool) { return account, true },
	}
	must.OK(b, h.Service.CreateTable(b.Context(), table.Name{Account: "bench", Table: "People"}))
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
				s := server.OpenStatistics("", slog.New(slog.DiscardHandler))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					resp := h.Serve(context.Background(), list[i%partitions])
					if resp.Status != 200 {
						b.Fatalf("%d %s", resp.Status, resp.Body)
					}
					if counted {
						s.Observe(&resp)
					}
					resp.Release()
				}
			})
		}
	}
}

// BenchmarkVisit measures only the time that the statistics add to a point read. With exact=true,
// the statistics count the key of every read. With exact=false, there are more than 1,000 reads a
// second, and the statistics count only every eighth key.
func BenchmarkVisit(b *testing.B) {
	for _, partitions := range []int{1, 2000} {
		list := make([]protocol.Response, partitions)
		for i := range list {
			list[i].Account, list[i].Table, list[i].Operation, list[i].Status = "bench", "People", "GetEntity", 200
			list[i].Visit = &protocol.Visit{PartitionKey: fmt.Sprintf("customer-%06d", i), RowKey: "profile", InPartition: true, Entities: 1, Bytes: 300}
		}
		for _, each := range []int{1000, 1 << 62} { // number of reads in one second; the server calls Tick each second
			b.Run(fmt.Sprintf("partitions=%d/exact=%v", partitions, each == 1000), func(b *testing.B) {
				s := server.OpenStatistics("", slog.New(slog.DiscardHandler))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if i%each == each-1 {
						s.Tick(stores.Now())
					}
					s.Observe(&list[i%partitions])
				}
			})
		}
	}
}
