package clients_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func analytics(enabled bool, days int32) *aztables.Metrics {
	m := &aztables.Metrics{Version: to.Ptr("1.0"), Enabled: &enabled, RetentionPolicy: retention(days)}
	if enabled {
		m.IncludeAPIs = to.Ptr(true)
	}
	return m
}

func retention(days int32) *aztables.RetentionPolicy {
	if days == 0 {
		return &aztables.RetentionPolicy{Enabled: to.Ptr(false)}
	}
	return &aztables.RetentionPolicy{Enabled: to.Ptr(true), Days: &days}
}

func logging(days int32) *aztables.Logging {
	return &aztables.Logging{
		Version: to.Ptr("1.0"), Delete: to.Ptr(true), Read: to.Ptr(false), Write: to.Ptr(true), RetentionPolicy: retention(days),
	}
}

func corsRules(count int) []*aztables.CorsRule {
	rules := make([]*aztables.CorsRule, count)
	for i := range rules {
		rules[i] = &aztables.CorsRule{
			AllowedOrigins: to.Ptr("http://www.example.com,http://other.example.com"), AllowedMethods: to.Ptr("GET,PUT,MERGE"),
			AllowedHeaders: to.Ptr("x-ms-meta-abc,x-ms-meta-data*"), ExposedHeaders: to.Ptr("x-ms-*"), MaxAgeInSeconds: to.Ptr(int32(i)),
		}
	}
	return rules
}

// TestServiceProperties changes the properties of the account, so it does not run in parallel with other tests.
func TestServiceProperties(t *testing.T) {
	service := newService(t)
	read := func() aztables.ServiceProperties {
		t.Helper()
		response, err := service.GetProperties(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return response.ServiceProperties
	}
	set := func(properties aztables.ServiceProperties) error {
		_, err := service.SetProperties(t.Context(), properties, nil)
		return err
	}
	want := func(t *testing.T, want aztables.ServiceProperties) {
		t.Helper()
		if got := read(); text(t, got) != text(t, want) {
			t.Errorf("properties:\n got %s\nwant %s", text(t, got), text(t, want))
		}
	}
	original := read()
	defer func() {
		clearRules(t)
		if err := set(original); err != nil {
			t.Error(err)
		}
	}()
	base := aztables.ServiceProperties{
		Logging: logging(7), HourMetrics: analytics(true, 5), MinuteMetrics: analytics(false, 0), Cors: corsRules(1),
	}

	t.Run("complete from the start", func(t *testing.T) {
		for name, m := range map[string]*aztables.Metrics{"hour": original.HourMetrics, "minute": original.MinuteMetrics} {
			if m.Version == nil || m.Enabled == nil || m.RetentionPolicy == nil {
				t.Errorf("%s metrics: %s", name, text(t, m))
			}
		}
		if l := original.Logging; l == nil || l.Version == nil || l.RetentionPolicy == nil {
			t.Errorf("logging: %s", text(t, l))
		}
	})
	t.Run("no rules", func(t *testing.T) {
		clearRules(t)
		if rules := read().Cors; len(rules) != 0 {
			t.Errorf("rules: %s", text(t, rules))
		}
	})
	t.Run("set and get", func(t *testing.T) {
		if err := set(base); err != nil {
			t.Fatal(err)
		}
		want(t, base)
	})
	// If a part is missing in the request, the part's stored value does not change. The SDK always sends the parts Logging
	// and Retention: if they are nil, it sends them without their required elements.
	for _, c := range []struct {
		why    string
		part   aztables.ServiceProperties
		merged aztables.ServiceProperties
	}{
		{"one part", aztables.ServiceProperties{Logging: logging(7), HourMetrics: analytics(false, 0)},
			with(base, func(p *aztables.ServiceProperties) { p.HourMetrics = analytics(false, 0) })},
		{"the longest retention", aztables.ServiceProperties{Logging: logging(7), MinuteMetrics: analytics(true, 365)},
			with(base, func(p *aztables.ServiceProperties) { p.MinuteMetrics = analytics(true, 365) })},
		{"five rules in their order", aztables.ServiceProperties{Logging: logging(7), Cors: corsRules(5)},
			with(base, func(p *aztables.ServiceProperties) { p.Cors = corsRules(5) })},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := set(base); err != nil {
				t.Fatal(err)
			}
			if err := set(c.part); err != nil {
				t.Fatal(err)
			}
			want(t, c.merged)
		})
	}
	for _, c := range []struct {
		why    string
		broken aztables.ServiceProperties
	}{
		{"six CORS rules", with(base, func(p *aztables.ServiceProperties) { p.Cors = corsRules(6) })},
		{"366 days", with(base, func(p *aztables.ServiceProperties) { p.HourMetrics = analytics(true, 366) })},
		{"no retention", with(base, func(p *aztables.ServiceProperties) { p.HourMetrics = &aztables.Metrics{Version: to.Ptr("1.0")} })},
		{"another version", with(base, func(p *aztables.ServiceProperties) {
			p.Logging = logging(7)
			p.Logging.Version = to.Ptr("7.0")
		})},
		{"a method that is none", with(base, func(p *aztables.ServiceProperties) {
			p.Cors = corsRules(1)
			p.Cors[0].AllowedMethods = to.Ptr("FETCH")
		})},
	} {
		t.Run("refused for "+c.why, func(t *testing.T) {
			if err := set(base); err != nil {
				t.Fatal(err)
			}
			wantError(t, set(c.broken), http.StatusBadRequest, "InvalidXmlDocument")
			want(t, base)
		})
	}
	t.Run("by an account's signature", func(t *testing.T) {
		by := home(t).signedService(t, aztables.AccountSASSignatureValues{Services: "t", ResourceTypes: "s", Permissions: "w"})
		other := with(base, func(p *aztables.ServiceProperties) { p.Logging = logging(8) })
		if _, err := by.SetProperties(t.Context(), other, nil); err != nil {
			t.Error(err)
		}
		want(t, other)
		by = home(t).signedService(t, aztables.AccountSASSignatureValues{Services: "t", ResourceTypes: "s", Permissions: "rdlacu"})
		_, err := by.SetProperties(t.Context(), base, nil)
		wantError(t, err, http.StatusForbidden, "AuthorizationPermissionMismatch")
		want(t, other)
	})
	t.Run("the secondary endpoint shows them", func(t *testing.T) {
		there := with(home(t), func(a *account) { a.endpoint = a.secondary() }).owner(t, noRetries())
		response, err := there.GetProperties(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, response.ServiceProperties), text(t, read()); got != want {
			t.Errorf("properties:\n got %s\nwant %s", got, want)
		}
		_, err = there.SetProperties(t.Context(), base, nil)
		wantError(t, err, http.StatusForbidden, "InsufficientAccountPermissions")
	})
}

// clearRules deletes all CORS rules. The SDK cannot do this, because it omits an empty list.
func clearRules(t *testing.T) {
	t.Helper()
	signed, err := aztables.AccountSASSignatureValues{
		Services: "t", ResourceTypes: "s", Permissions: "w", ExpiryTime: future,
	}.Sign(home(t).credential)
	if err != nil {
		t.Fatal(err)
	}
	const empty = "<StorageServiceProperties><Cors/></StorageServiceProperties>"
	request, err := http.NewRequest(http.MethodPut,
		home(t).endpoint+"?restype=service&comp=properties&"+signed.Encode(), strings.NewReader(empty))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-ms-version", aztables.SASVersion)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("clear the CORS rules: %s", response.Status)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func TestServiceStats(t *testing.T) {
	t.Parallel()
	there := with(home(t), func(a *account) { a.endpoint = a.secondary() })
	for name, service := range map[string]*aztables.ServiceClient{
		"by key":       there.owner(t, noRetries()),
		"by signature": there.signedService(t, aztables.AccountSASSignatureValues{Services: "t", ResourceTypes: "s", Permissions: "r"}),
	} {
		t.Run(name, func(t *testing.T) {
			response, err := service.GetStatistics(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if status := *response.GeoReplication.Status; status != aztables.GeoReplicationStatusLive {
				t.Errorf("status: got %q", status)
			}
			if age := time.Since(*response.GeoReplication.LastSyncTime).Abs(); age > time.Hour {
				t.Errorf("last sync was %v from now", age)
			}
		})
	}
	t.Run("not at the primary endpoint", func(t *testing.T) {
		_, err := newService(t).GetStatistics(t.Context(), nil)
		wantError(t, err, http.StatusBadRequest, "InvalidQueryParameterValue")
	})
}

func TestSecondaryReads(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", fields{"A": "x"})
	there := with(home(t), func(a *account) { a.endpoint = a.secondary() }).owner(t, noRetries()).NewClient(table)
	if got := get(t, there, "p", "there")["A"]; got != "x" {
		t.Errorf("got %v", got)
	}
	wantRows(t, list(t, there, nil), "there")
	_, err := there.AddEntity(t.Context(), entity(t, "p", "new", nil), nil)
	wantError(t, err, http.StatusForbidden, "InsufficientAccountPermissions")
}
