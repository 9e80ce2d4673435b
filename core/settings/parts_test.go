package settings_test

import (
	"strings"
	"testing"

	"edgetable/core/sas"
	"edgetable/core/settings"
)

// TestBrokenParts checks that a malformed element at any depth makes the document invalid.
func TestBrokenParts(t *testing.T) {
	t.Parallel()
	within := func(whole, old string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%s is not part of %s", old, whole)
		}
		return properties(strings.Replace(whole, old, old[:strings.Index(old, ">")+1]+"<a/>"+old[strings.LastIndex(old, "<"):], 1))
	}
	minute := strings.ReplaceAll(metrics, "HourMetrics", "MinuteMetrics")
	for _, body := range []string{
		"<StorageServiceProperties><Logging>",
		"<StorageServiceProperties><Logging></Hour></StorageServiceProperties>",
		"<StorageServiceProperties>" + logging + "<Unknown><a></b></Unknown></StorageServiceProperties>",
		"<StorageServiceProperties>" + logging + "<Unknown><a>",
		within(logging, "<Version>1.0</Version>"),
		properties(strings.Replace(logging, retention, "<RetentionPolicy><Enabled>true</Enabled><Days><a/></Days></RetentionPolicy>", 1)),
		properties(strings.Replace(minute, "1.0", "2.0", 1)),
		properties(strings.Replace(metrics, "<IncludeAPIs>false", "<IncludeAPIs>1", 1)),
		cors(replaced("AllowedOrigins", "<a/>")),
		cors(strings.Replace(replaced("AllowedHeaders", sized(1024)), "<ExposedHeaders></ExposedHeaders>", "<ExposedHeaders>"+sized(1024)+"</ExposedHeaders>", 1)),
	} {
		p := configured()
		if err := p.Update([]byte(body)); err == nil {
			t.Errorf("%.300s is accepted", body)
		}
	}
	for _, access := range []string{"<Start><a/></Start>", "<Permission><a/></Permission>"} {
		if got, err := settings.ParsePolicies([]byte(identifiers(identifier("a", access)))); err == nil {
			t.Errorf("%s is accepted: %v", access, got)
		}
	}
	if got, err := settings.ParsePolicies([]byte(identifiers(identifier("a", "<Permission> r\n</Permission>")))); err != nil || got[0].Permissions != "r" {
		t.Errorf("blanks around permissions: %v, %v", got, err)
	}
}

// TestPartsLeftOut checks that a written document lacks the elements of values that are not set, and has an empty
// element for an empty list of headers.
func TestPartsLeftOut(t *testing.T) {
	t.Parallel()
	june := at(t, "2021-06-08T02:10:09Z")
	for _, tt := range []struct {
		policy sas.Policy
		want   string
	}{
		{sas.Policy{ID: "a", Start: june}, "<AccessPolicy><Start>2021-06-08T02:10:09.0000000Z</Start></AccessPolicy>"},
		{sas.Policy{ID: "a", Expiry: june}, "<AccessPolicy><Expiry>2021-06-08T02:10:09.0000000Z</Expiry></AccessPolicy>"},
		{sas.Policy{ID: "a", Permissions: "r"}, "<AccessPolicy><Permission>r</Permission></AccessPolicy>"},
		{sas.Policy{ID: "a"}, "<Id>a</Id></SignedIdentifier>"},
	} {
		if got := string(settings.AppendPolicies(nil, []sas.Policy{tt.policy})); !strings.Contains(got, tt.want) {
			t.Errorf("%s has no %s", got, tt.want)
		}
	}
	p := configured()
	p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: "*"}}
	if got := string(p.Append(nil, false)); !strings.Contains(got, "<AllowedHeaders />") || !strings.Contains(got, "<ExposedHeaders />") {
		t.Errorf("%s has no empty lists", got)
	}
}
