package sas_test

import (
	"fmt"
	"time"

	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
)

func Example() {
	// The holder of the key allows others to read one partition.
	key, err := sharedkey.ParseKey("c2VjcmV0IGFjY291bnQga2V5")
	if err != nil {
		panic(err)
	}
	query, err := sas.TableValues{
		Table: "Orders", Expiry: "2030-01-01T00:00:00Z", Permissions: "r",
		StartPartition: "emea", EndPartition: "emea",
	}.Sign("acct", key)
	if err != nil {
		panic(err)
	}
	fmt.Println(query)

	// The server finds out what a request with this query may do.
	token, err := sas.Parse(query)
	if err != nil {
		panic(err)
	}
	account := &sharedkey.Account{Name: "acct", Keys: [2]*sharedkey.Key{key}}
	grant, err := token.Verify(account, sas.Context{Now: edm.TicksOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
	if err != nil {
		panic(err)
	}
	fmt.Println(grant.Allow(sas.QueryEntities, "orders"))
	fmt.Println(grant.AllowEntity("apac", "1") == nil)
	fmt.Println(grant.Allow(sas.DeleteEntity, "orders"))
	// Output:
	// sv=2019-02-02&tn=Orders&se=2030-01-01T00%3A00%3A00Z&sp=r&spk=emea&epk=emea&sig=KqFOvUx8HWTMXXHBQy8bnsZZ1tpOGUAK%2F28HxwDfIEM%3D
	// <nil>
	// false
	// AuthorizationPermissionMismatch: This request is not authorized to perform this operation using this permission. Detail: Delete Entity needs the letter d in the token's permissions; they are "r".
}
