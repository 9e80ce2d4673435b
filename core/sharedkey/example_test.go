package sharedkey_test

import (
	"errors"
	"fmt"
	"time"

	"edgetable/core/sharedkey"
)

func Example() {
	// The client signs the request before it sends it.
	key, err := sharedkey.ParseKey("c2VjcmV0IGFjY291bnQga2V5")
	if err != nil {
		panic(err)
	}
	now := time.Date(2016, 6, 27, 15, 25, 14, 0, time.UTC)
	req := sharedkey.Request{Method: "GET", Path: "/mytable()", XMSDate: sharedkey.FormatDate(now)}
	header := key.Authorization(sharedkey.SharedKeyLite, "acct", req)

	// The server verifies the request that it receives.
	cred, err := sharedkey.ParseAuthorization(header)
	if err != nil {
		panic(err)
	}
	account := sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{key}}
	fmt.Println(account.Verify(cred, req, now.Add(time.Minute), sharedkey.MaxSkew))
	fmt.Println(errors.Is(account.Verify(cred, req, now.Add(time.Hour), sharedkey.MaxSkew), sharedkey.Skewed))
	// Output:
	// <nil>
	// true
}
