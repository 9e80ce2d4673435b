package settings_test

import (
	"strings"
	"testing"

	"edgetable/core/multipart"
	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

// site is a CORS rule as the owner of a website might write it, with exact names and one prefix.
var site = settings.Rule{
	AllowedMethods: "GET,PUT",
	AllowedOrigins: "https://www.ab.com, https://www.bc.com",
	AllowedHeaders: "x-ms-meta-xyz,x-ms-meta-data*",
	ExposedHeaders: "x-ms-meta-abc,ETag",
	MaxAge:         500,
}

func with(r settings.Rule, change func(*settings.Rule)) settings.Rule {
	change(&r)
	return r
}

func lines(fields []multipart.Field) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f.Name + ": " + f.Value + "\n")
	}
	return b.String()
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	everybody := with(site, func(r *settings.Rule) { r.AllowedOrigins = "*" })
	anyHeader := with(site, func(r *settings.Rule) { r.AllowedHeaders = "*" })
	subdomains := with(site, func(r *settings.Rule) { r.AllowedOrigins = "https://*.contoso.com" })
	const granted = "Access-Control-Allow-Origin: https://www.ab.com\nAccess-Control-Allow-Methods: PUT\n" +
		"Access-Control-Max-Age: 500\nAccess-Control-Allow-Credentials: true\n"
	for _, c := range []struct {
		why                     string
		cors                    settings.CORS
		origin, method, headers string
		want                    string // the expected headers; "" if the preflight is refused
	}{
		{"no rules", nil, "https://www.ab.com", "PUT", "", ""},
		{"origin and method match, no headers asked for", settings.CORS{site}, "https://www.ab.com", "PUT", "", granted},
		{"blanks around an item have no meaning", settings.CORS{site}, "https://www.bc.com", "PUT", "",
			strings.Replace(granted, "www.ab", "www.bc", 1)},
		{"origins are compared to the letter", settings.CORS{site}, "https://WWW.ab.com", "PUT", "", ""},
		{"another scheme is another origin", settings.CORS{site}, "http://www.ab.com", "PUT", "", ""},
		{"an origin is not a prefix", settings.CORS{site}, "https://www.ab.com.evil.org", "PUT", "", ""},
		{"no origin", settings.CORS{everybody}, "", "PUT", "", ""},
		{"no method", settings.CORS{everybody}, "https://www.ab.com", "", "", ""},
		{"the method is not in the rule", settings.CORS{site}, "https://www.ab.com", "POST", "", ""},
		{"methods are case-sensitive", settings.CORS{site}, "https://www.ab.com", "put", "", ""},
		{"the list of methods is not one method", settings.CORS{site}, "https://www.ab.com", "GET,PUT", "", ""},
		{"MERGE is a method of this service",
			settings.CORS{with(site, func(r *settings.Rule) { r.AllowedMethods = "MERGE, PATCH" })}, "https://www.ab.com", "MERGE", "",
			strings.Replace(granted, "PUT", "MERGE", 1)},
		{"the origin is echoed for a rule of * too", settings.CORS{everybody}, "https://www.ab.com", "PUT", "", granted},
		{"the origin of a sandboxed page is null", settings.CORS{everybody}, "null", "PUT", "", strings.Replace(granted, "https://www.ab.com", "null", 1)},

		{"a literal and a prefixed header", settings.CORS{site}, "https://www.ab.com", "PUT", "X-MS-Meta-XYZ, x-ms-meta-Data-1",
			strings.Replace(granted, "Access-Control-Max", "Access-Control-Allow-Headers: X-MS-Meta-XYZ, x-ms-meta-Data-1\nAccess-Control-Max", 1)},
		{"the prefix alone has the prefix", settings.CORS{site}, "https://www.ab.com", "PUT", "x-ms-meta-data",
			strings.Replace(granted, "Access-Control-Max", "Access-Control-Allow-Headers: x-ms-meta-data\nAccess-Control-Max", 1)},
		{"a literal is not a prefix", settings.CORS{site}, "https://www.ab.com", "PUT", "x-ms-meta-xyz-1", ""},
		{"every header has to be covered", settings.CORS{site}, "https://www.ab.com", "PUT", "x-ms-meta-xyz,authorization", ""},
		{"an empty list covers none", settings.CORS{with(site, func(r *settings.Rule) { r.AllowedHeaders = "" })}, "https://www.ab.com", "PUT", "x-ms-date", ""},
		{"a lone asterisk covers all", settings.CORS{anyHeader}, "https://www.ab.com", "PUT", "authorization,x-ms-date",
			strings.Replace(granted, "Access-Control-Max", "Access-Control-Allow-Headers: authorization,x-ms-date\nAccess-Control-Max", 1)},
		{"what is no name is not echoed", settings.CORS{anyHeader}, "https://www.ab.com", "PUT", "a\r\nSet-Cookie: b", ""},
		{"more names than a browser sends", settings.CORS{anyHeader}, "https://www.ab.com", "PUT", strings.Repeat("a,", 5000), ""},

		{"a rule of another origin is passed over", settings.CORS{subdomains, site}, "https://www.ab.com", "PUT", "", granted},
		{"a rule of other methods is passed over",
			settings.CORS{with(site, func(r *settings.Rule) { r.AllowedMethods = "GET"; r.MaxAge = 1 }), site}, "https://www.ab.com", "PUT", "", granted},
		{"a rule without the headers ends the search", settings.CORS{site, anyHeader}, "https://www.ab.com", "PUT", "authorization", ""},
		{"the first of two matching rules", settings.CORS{site, with(site, func(r *settings.Rule) { r.MaxAge = 1 })}, "https://www.ab.com", "PUT", "", granted},

		{"a subdomain", settings.CORS{subdomains}, "https://a.contoso.com", "PUT", "", strings.Replace(granted, "www.ab", "a.contoso", 1)},
		{"a subdomain of a subdomain", settings.CORS{subdomains}, "https://a.b-1.contoso.com", "PUT", "", strings.Replace(granted, "www.ab", "a.b-1.contoso", 1)},
		{"the domain is not its subdomain", settings.CORS{subdomains}, "https://contoso.com", "PUT", "", ""},
		{"an empty subdomain", settings.CORS{subdomains}, "https://.contoso.com", "PUT", "", ""},
		{"a label before it", settings.CORS{subdomains}, "https://.a.contoso.com", "PUT", "", ""},
		{"another domain with the same end", settings.CORS{subdomains}, "https://evilcontoso.com", "PUT", "", ""},
		{"another domain with the same beginning", settings.CORS{subdomains}, "https://a.contoso.com.evil.org", "PUT", "", ""},
		{"a path is not part of a subdomain", settings.CORS{subdomains}, "https://evil.org/a.contoso.com", "PUT", "", ""},
		{"neither is a user", settings.CORS{subdomains}, "https://evil.org:1@a.contoso.com", "PUT", "", ""},
		{"another port is another origin", settings.CORS{subdomains}, "https://a.contoso.com:8080", "PUT", "", ""},
		{"a subdomain over another scheme", settings.CORS{subdomains}, "http://a.contoso.com", "PUT", "", ""},
		{"a port in the rule", settings.CORS{with(site, func(r *settings.Rule) { r.AllowedOrigins = "http://*.contoso.com:8080" })},
			"http://a.contoso.com:8080", "PUT", "", strings.Replace(granted, "https://www.ab.com", "http://a.contoso.com:8080", 1)},
		{"an asterisk elsewhere is a letter", settings.CORS{with(site, func(r *settings.Rule) { r.AllowedOrigins = "https://a*.com" })}, "https://ab.com", "PUT", "", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			fields, ok := c.cors.Preflight(c.origin, c.method, c.headers)
			if ok != (c.want != "") {
				t.Errorf("granted: %v", ok)
			}
			if diff := cmp.Diff(c.want, lines(fields)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// response holds the headers of the response to a query, without CORS headers.
var response = []multipart.Field{
	{Name: "Content-Type", Value: "application/json;odata=minimalmetadata"},
	{Name: "ETag", Value: `W/"datetime'2020'"`},
	{Name: "x-ms-continuation-NextPartitionKey", Value: "1!4!cA--"},
	{Name: "x-ms-continuation-NextRowKey", Value: "1!4!cg--"},
	{Name: "x-ms-request-id", Value: "1"},
	{Name: "X-Ms-Request-Id", Value: "twice"},
}

func TestActual(t *testing.T) {
	t.Parallel()
	everybody := with(site, func(r *settings.Rule) { r.AllowedOrigins = "https://www.ab.com,*" })
	exposing := func(list string) settings.CORS {
		return settings.CORS{with(site, func(r *settings.Rule) { r.ExposedHeaders = list })}
	}
	const (
		own  = "Access-Control-Allow-Origin: https://www.ab.com\nAccess-Control-Allow-Credentials: true\n"
		all  = "Access-Control-Allow-Origin: *\n"
		abc  = "Access-Control-Expose-Headers: x-ms-meta-abc,ETag\n"
		vary = "Vary: Origin\n"
	)
	for _, c := range []struct {
		why            string
		cors           settings.CORS
		origin, method string
		want           string
	}{
		{"no origin, no rules", nil, "", "GET", ""},
		{"no origin, rules of others", settings.CORS{site}, "", "GET", vary},
		{"HEAD is as cacheable as GET", settings.CORS{site}, "", "HEAD", vary},
		{"Vary is not for writes", settings.CORS{site}, "", "PUT", ""},
		{"no origin, a rule of everybody", settings.CORS{site, everybody}, "", "GET", all + abc},
		{"no origin, a write by a rule of everybody", settings.CORS{everybody}, "", "PUT", ""},
		{"no origin, a rule of everybody for another method", settings.CORS{everybody}, "", "POST", ""},
		{"no origin, a rule of everybody for another method that is cacheable", settings.CORS{everybody}, "", "HEAD", vary},
		{"an origin, no rules", settings.CORS{}, "https://www.ab.com", "GET", ""},
		{"an origin of no rule", settings.CORS{site}, "https://evil.org", "GET", vary},
		{"a write from an origin of no rule", settings.CORS{site}, "https://evil.org", "PUT", ""},
		{"a rule of the origin", settings.CORS{site}, "https://www.ab.com", "GET", own + abc + vary},
		{"a write by a rule of the origin", settings.CORS{site}, "https://www.ab.com", "PUT", own + abc},
		{"the method is not in the rule", settings.CORS{site}, "https://www.ab.com", "HEAD", vary},
		{"a rule of everybody first", settings.CORS{everybody, site}, "https://www.ab.com", "GET", all + abc},
		{"a rule of the origin first", settings.CORS{site, everybody}, "https://www.ab.com", "GET", own + abc + vary},
		{"a rule of everybody after others", settings.CORS{site, everybody}, "https://evil.org", "GET", all + abc},
		{"an invalid origin is not repeated", settings.CORS{everybody}, "https://a\r\nb", "GET", vary},

		{"nothing is exposed", exposing(""), "https://www.ab.com", "PUT", own},
		{"blanks are nothing", exposing(" \n"), "https://www.ab.com", "PUT", own},
		{"a prefix matches headers of the response", exposing("x-ms-continuation-*"), "https://www.ab.com", "PUT",
			own + "Access-Control-Expose-Headers: x-ms-continuation-NextPartitionKey,x-ms-continuation-NextRowKey\n"},
		{"an empty item is no name", exposing("Date, ,ETag"), "https://www.ab.com", "PUT", own + "Access-Control-Expose-Headers: ETag,Date\n"},
		{"a prefix of none", exposing("x-ms-meta*"), "https://www.ab.com", "PUT", own},
		{"names are listed even if absent, present ones once", exposing("Date,etag,x-ms-request*"), "https://www.ab.com", "PUT",
			own + "Access-Control-Expose-Headers: ETag,x-ms-request-id,Date\n"},
		{"an asterisk matches all headers of the response, each once", exposing("*"), "https://www.ab.com", "PUT",
			own + "Access-Control-Expose-Headers: Content-Type,ETag,x-ms-continuation-NextPartitionKey,x-ms-continuation-NextRowKey,x-ms-request-id,Content-Length,Transfer-Encoding\n"},
		{"line breaks of the document are not copied into a header", exposing("\n\tx-ms-meta-abc,\r\n\tDate\n"), "https://www.ab.com", "PUT",
			own + "Access-Control-Expose-Headers: x-ms-meta-abc,Date\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, lines(c.cors.Actual(c.origin, c.method, response))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestActualAllocatesNothing checks that Actual does not allocate for requests that get no Access-Control headers,
// such as all requests of clients other than browsers.
func TestActualAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		why    string
		cors   settings.CORS
		origin string
	}{
		{"no rules", nil, "https://www.ab.com"},
		{"no origin", settings.CORS{site, site}, ""},
		{"another origin", settings.CORS{site, site}, "https://evil.org"},
	} {
		if n := testing.AllocsPerRun(100, func() { c.cors.Actual(c.origin, "GET", response) }); n != 0 {
			t.Errorf("%s: %v allocations", c.why, n)
		}
	}
}
