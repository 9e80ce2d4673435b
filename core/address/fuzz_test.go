package address_test

import (
	"strings"
	"testing"

	"edgetable/core/address"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/wiretest"
)

// FuzzTarget checks that every target gets a route or an error of the protocol.
// If the route is an entity, its keys are legal, and parsing the entity's URI gives
// the same route.
func FuzzTarget(f *testing.F) {
	list, err := wiretest.Load()
	if err != nil {
		f.Fatal(err)
	}
	for _, transcript := range list {
		for _, e := range transcript.Exchanges {
			// NewRequest returns an error for a request that needs a header of an earlier response.
			if r, err := wiretest.NewRequest(e.Request, wiretest.Start); err == nil && len(r.Target) < 2000 {
				f.Add(r.Target, r.Host)
			}
		}
	}
	f.Fuzz(func(t *testing.T, target, host string) {
		for _, pathStyle := range []bool{false, true} {
			at := address.Parse(target)
			a, ok := at.Locate(host, pathStyle)
			if !ok {
				continue
			}
			if a.Account == "" || strings.HasPrefix(a.Rest, "/") || !strings.HasPrefix(at.Path, "/") {
				t.Fatalf("address %+v", a)
			}
			r, err := address.ParseRoute(a.Account, a.Rest, false)
			if err != nil {
				if code(t, err) == table.InternalError || r != (address.Route{}) {
					t.Fatalf("route %+v, %v", r, err)
				}
				continue
			}
			if r.Resource != address.OneEntity {
				continue
			}
			if key.Check(r.PartitionKey) != nil || key.Check(r.RowKey) != nil {
				t.Fatalf("keys of %+v", r)
			}
			if table.CheckTableName(r.Table) != nil {
				continue // an invalid table name gives an invalid URI, because AppendEntityURI does not escape names
			}
			uri := string(payload.AppendEntityURI(nil, "", r.Table, r.PartitionKey, r.RowKey))
			r.Nested, r.Misbuilt = false, nil // the URI has no other segments
			if again, err := address.ParseRoute(a.Account, uri, false); err != nil || again != r {
				t.Fatalf("%+v has the URI %s, which has the route %+v, %v", r, uri, again, err)
			}
		}
	})
}

// FuzzComp checks that the server uses the same value of the query option comp as the signature.
func FuzzComp(f *testing.F) {
	for _, q := range []string{"", "comp=acl", "Comp=%61cl&timeout=1", "%63omp=acl", "comp=&comp=acl", "c%6fmp=%zz", "comp=a%0Acl", "restype=service&comp=list+", "x=%&comp=acl", "comp", "$comp=acl&+comp=acl"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		o, err := parse(query)
		if err != nil {
			return
		}
		signed := sharedkey.StringToSign(sharedkey.SharedKeyLite, "a", sharedkey.Request{Path: "/p", RawQuery: query, XMSDate: "d"})
		if want := "d\n/a/p?comp=" + o.Comp; signed != want && (signed != "d\n/a/p" || o.Comp != "") {
			t.Errorf("%q: server runs comp %q, signature covers %q", query, o.Comp, signed)
		}
	})
}
