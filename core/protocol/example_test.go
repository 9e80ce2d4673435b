package protocol_test

import (
	"context"
	"fmt"
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

func Example() {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := func() edm.Ticks { return edm.TicksOf(clock) }
	secret, err := sharedkey.NewKey([]byte("the account's key"))
	if err != nil {
		fmt.Println(err)
	}
	account := &protocol.Account{Account: sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{secret}}}
	h := &protocol.Handler{
		Service:     table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { return 1 }}),
		Accounts:    func(name string) (*protocol.Account, bool) { return account, name == "acct" },
		Now:         now,
		NewID:       func() (id [16]byte) { return id },
		WithTimeout: context.WithTimeout,
		MaxSkew:     sharedkey.MaxSkew,
	}
	date := sharedkey.FormatDate(clock)
	resp := h.Serve(context.Background(), &protocol.Request{
		Method: "GET", Target: "/acct/Tables", Host: "127.0.0.1:10002", Scheme: "http",
		Header: protocol.Header{
			"X-Ms-Date": {date},
			"Accept":    {"application/json;odata=nometadata"},
			"Authorization": {secret.Authorization(sharedkey.SharedKeyLite, "acct",
				sharedkey.Request{Method: "GET", Path: "/acct/Tables", XMSDate: date})},
		},
	})
	defer resp.Release()
	fmt.Println(resp.Status, string(resp.Body))
	// Output:
	// 200 {"value":[]}
}
