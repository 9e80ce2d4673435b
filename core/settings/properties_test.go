package settings_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

// Documents in the form in which the service writes them. The constant full has the order of elements that was
// recorded from the service.
const (
	full   = `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy></Logging><HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy></HourMetrics><MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors><CorsRule><AllowedMethods>GET,PUT</AllowedMethods><AllowedOrigins>www.ab.com,www.bc.com</AllowedOrigins><AllowedHeaders>x-ms-meta-xyz,x-ms-meta-data*</AllowedHeaders><ExposedHeaders>x-ms-meta-abc,x-ms-meta-source*</ExposedHeaders><MaxAgeInSeconds>500</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`
	legacy = `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Logging><Version>1.0</Version><Read>false</Read><Write>true</Write><Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Metrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Metrics></StorageServiceProperties>`
	unset  = `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging><HourMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics><MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors /></StorageServiceProperties>`
)

// configured returns the properties that the XML document in the constant "full" describes.
func configured() settings.Properties {
	return settings.Properties{
		Logging:     settings.Logging{Read: true, Write: true, Delete: true, RetentionDays: 5},
		HourMetrics: settings.Metrics{Enabled: true, IncludeAPIs: true, RetentionDays: 5},
		CORS: settings.CORS{{AllowedMethods: "GET,PUT", AllowedOrigins: "www.ab.com,www.bc.com",
			AllowedHeaders: "x-ms-meta-xyz,x-ms-meta-data*", ExposedHeaders: "x-ms-meta-abc,x-ms-meta-source*", MaxAge: 500}},
	}
}

func TestAppendProperties(t *testing.T) {
	t.Parallel()
	old := settings.Properties{
		Logging:       settings.Logging{Write: true, Delete: true, RetentionDays: 7},
		HourMetrics:   settings.Metrics{Enabled: true, RetentionDays: 7},
		MinuteMetrics: settings.Metrics{Enabled: true}, // not in the document of an older protocol version
		CORS:          configured().CORS,               // not in the document of an older protocol version
	}
	for _, c := range []struct {
		why    string
		p      settings.Properties
		legacy bool
		want   string
	}{
		{"all there is", configured(), false, full},
		{"the shape before 2013-08-15", old, true, legacy},
		{"nothing configured", settings.Defaults(), false, unset},
	} {
		if diff := cmp.Diff("before"+c.want, string(c.p.Append([]byte("before"), c.legacy))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.why, diff)
		}
	}
}

// The smallest valid elements. Tests modify them.
const (
	retention = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
	logging   = "<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write><Delete>true</Delete>" + retention + "</Logging>"
	metrics   = "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>" + retention + "</HourMetrics>"
	rule      = "<CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>*</AllowedOrigins><AllowedHeaders/><ExposedHeaders></ExposedHeaders><MaxAgeInSeconds>0</MaxAgeInSeconds></CorsRule>"
)

func properties(children ...string) string {
	return "<StorageServiceProperties>" + strings.Join(children, "") + "</StorageServiceProperties>"
}

func cors(rules ...string) string {
	return properties("<Cors>" + strings.Join(rules, "") + "</Cors>")
}

// replaced returns a copy of a minimal CorsRule element (the constant "rule") in which one child element has another
// text.
func replaced(element, text string) string {
	for _, old := range []string{
		"<" + element + "/>",
		"<" + element + "></" + element + ">",
		"<" + element + ">GET</" + element + ">",
		"<" + element + ">*</" + element + ">",
		"<" + element + ">0</" + element + ">",
	} {
		if strings.Contains(rule, old) {
			return strings.Replace(rule, old, "<"+element+">"+text+"</"+element+">", 1)
		}
	}
	panic("no element " + element)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	change := func(f func(p *settings.Properties)) settings.Properties {
		p := configured()
		f(&p)
		return p
	}
	any := settings.Rule{AllowedMethods: "GET", AllowedOrigins: "*"}
	for _, c := range []struct {
		why, body string
		want      settings.Properties // the expected result of Update, applied to the properties of configured()
	}{
		{"the whole document", full, configured()},
		{"the whole document with a mark", "\uFEFF" + full, configured()},
		{"everything off", unset, settings.Defaults()},
		{"only logging", properties(logging), change(func(p *settings.Properties) { p.Logging = settings.Logging{Read: true, Delete: true} })},
		{"only hour metrics", properties(metrics), change(func(p *settings.Properties) { p.HourMetrics = settings.Metrics{Enabled: true} })},
		{"hour metrics by the old name", strings.ReplaceAll(properties(metrics), "HourMetrics", "Metrics"),
			change(func(p *settings.Properties) { p.HourMetrics = settings.Metrics{Enabled: true} })},
		{"only minute metrics", strings.ReplaceAll(properties(metrics), "HourMetrics", "MinuteMetrics"),
			change(func(p *settings.Properties) { p.MinuteMetrics = settings.Metrics{Enabled: true} })},
		{"an old client's document leaves alone what it does not know", legacy, change(func(p *settings.Properties) {
			p.Logging = settings.Logging{Write: true, Delete: true, RetentionDays: 7}
			p.HourMetrics = settings.Metrics{Enabled: true, RetentionDays: 7}
		})},
		{"an empty list deletes all rules", properties("<Cors />"), change(func(p *settings.Properties) { p.CORS = nil })},
		{"rules are replaced", cors(rule, rule), change(func(p *settings.Properties) { p.CORS = settings.CORS{any, any} })},
		{"any order, blanks, and booleans as Python writes them", "<StorageServiceProperties>\r\n" +
			"<Cors/>\n\t<Logging><RetentionPolicy><Days> 365 </Days><Enabled> True </Enabled></RetentionPolicy><Delete>False</Delete>" +
			"<Write>true</Write><Read>false</Read><Version>1.0</Version></Logging></StorageServiceProperties>",
			change(func(p *settings.Properties) {
				p.Logging, p.CORS = settings.Logging{Write: true, RetentionDays: 365}, nil
			})},
		{"what is not enabled may be given, and is not kept",
			properties("<HourMetrics><Version>1.0</Version><Enabled>false</Enabled><IncludeAPIs>true</IncludeAPIs>" +
				"<RetentionPolicy><Enabled>false</Enabled><Days>9</Days></RetentionPolicy></HourMetrics>"),
			change(func(p *settings.Properties) { p.HourMetrics = settings.Metrics{} })},
		{"full names of headers come first", cors(replaced("AllowedHeaders", " x-ms-meta* ,\r\n&#13;X-Ms-Date")),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: "*", AllowedHeaders: "X-Ms-Date,x-ms-meta*"}}
			})},
		{"all the methods", cors(replaced("AllowedMethods", "DELETE,GET,HEAD,MERGE,POST,OPTIONS,PUT,PATCH,TRACE,CONNECT")),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "DELETE,GET,HEAD,MERGE,POST,OPTIONS,PUT,PATCH,TRACE,CONNECT", AllowedOrigins: "*"}}
			})},
		{"the oldest age", cors(replaced("MaxAgeInSeconds", "2147483647")),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: "*", MaxAge: 2147483647}}
			})},
		{"five rules", cors(rule, rule, rule, rule, rule), change(func(p *settings.Properties) { p.CORS = settings.CORS{any, any, any, any, any} })},
		{"64 origins", cors(replaced("AllowedOrigins", many("http://o", 64))),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: many("http://o", 64)}}
			})},
		{"64 names and 2 prefixes", cors(replaced("ExposedHeaders", many("h", 64)+",a*,*")),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: "*", ExposedHeaders: many("h", 64) + ",a*,*"}}
			})},
		{"an origin of 256 characters, not bytes", cors(replaced("AllowedOrigins", strings.Repeat("ä", 256))),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: strings.Repeat("ä", 256)}}
			})},
		{"2048 bytes of rules", cors(replaced("AllowedHeaders", sized(2048-len("GET*0")))),
			change(func(p *settings.Properties) {
				p.CORS = settings.CORS{{AllowedMethods: "GET", AllowedOrigins: "*", AllowedHeaders: sized(2048 - len("GET*0"))}}
			})},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			p := configured()
			if err := p.Update([]byte(c.body)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			stored(t, p)
		})
	}
}

// many returns a list of n different items, each with the given prefix.
func many(prefix string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strconv.Itoa(i)
	}
	return strings.Join(list, ",")
}

// sized returns a list of header names with a total length of n bytes. The names have the maximum length.
func sized(n int) string {
	return strings.Repeat(strings.Repeat("h", 256)+",", n/257) + strings.Repeat("h", n%257)
}

// stored checks that properties are the same after they were stored and read again.
func stored(t *testing.T, p settings.Properties) {
	t.Helper()
	doc := p.Append(nil, false)
	wellFormed(t, doc)
	again := settings.Defaults()
	if err := again.Update(doc); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("the stored properties differ: -given +read again\n%s", diff)
	}
}

// TestStored checks that random properties are the same after they were stored and read again.
func TestStored(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	flip := func() bool { return random.IntN(2) == 0 }
	days := func() int32 { return random.Int32N(2) * (1 + random.Int32N(365)) }
	counts := func() settings.Metrics {
		m := settings.Metrics{Enabled: flip(), RetentionDays: days()}
		m.IncludeAPIs = m.Enabled && flip()
		return m
	}
	pick := func(items ...string) string {
		var list []string
		for range random.IntN(4) {
			list = append(list, items[random.IntN(len(items))])
		}
		return strings.Join(append(list, items[0]), []string{",", ", ", "\r\n,\t"}[random.IntN(3)])
	}
	for range 2000 {
		p := settings.Properties{
			Logging:     settings.Logging{Read: flip(), Write: flip(), Delete: flip(), RetentionDays: days()},
			HourMetrics: counts(), MinuteMetrics: counts(),
		}
		for range random.IntN(6) {
			p.CORS = append(p.CORS, settings.Rule{
				AllowedMethods: pick("GET", "PUT", "MERGE"),
				AllowedOrigins: pick("*", "https://a.b", "https://*.ä.example", "<&>\"']]>"),
				AllowedHeaders: []string{"", strings.Join([]string{"x-ms-date", "&'", "x-ms-*"}[random.IntN(3):], ",")}[random.IntN(2)],
				ExposedHeaders: strings.Join([]string{"x-ms-meta-abc", "ETag", "`|~"}[random.IntN(3):], ","),
				MaxAge:         random.Int32N(1 << random.IntN(31)),
			})
		}
		stored(t, p)
		if t.Failed() {
			return
		}
	}
}
