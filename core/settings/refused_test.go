package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpdateRefusesNothing checks that Update refuses a document without any known element. The service has refused
// such a document in a recorded exchange.
func TestUpdateRefusesNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{properties(), "<StorageServiceProperties />", properties("<Unknown />")} {
		p := configured()
		refusedFor(t, p.Update([]byte(body)), "StorageServiceProperties: at least one of Logging")
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	without := func(whole, part string) string {
		if !strings.Contains(whole, part) {
			t.Fatalf("%s is not part of %s", part, whole)
		}
		return strings.Replace(whole, part, "", 1)
	}
	keep := func(days string) string {
		return properties(strings.Replace(logging, retention, "<RetentionPolicy><Enabled>true</Enabled>"+days+"</RetentionPolicy>", 1))
	}
	for _, c := range []struct{ why, body, want string }{
		{"an empty body", "", "no element"},

		{"366 days", keep("<Days>366</Days>"), "StorageServiceProperties/Logging/RetentionPolicy/Days: not a whole number from 1 to 365"},
		{"no day", keep("<Days>0</Days>"), "Days: not a whole number"},
		{"days in words", keep("<Days>seven</Days>"), "Days: not a whole number"},
		{"more days than a number holds", keep("<Days>4294967297</Days>"), "Days: not a whole number"},
		{"days are missing", keep(""), "RetentionPolicy: <Days> is missing"},
		{"days are wrong though retention is off",
			properties(strings.Replace(logging, "</RetentionPolicy>", "<Days>366</Days></RetentionPolicy>", 1)), "Days: not a whole number"},
		{"retention is neither on nor off", properties(strings.Replace(logging, "<Enabled>false</Enabled>", "", 1)), "RetentionPolicy: <Enabled> is missing"},

		{"logging without a version", properties(without(logging, "<Version>1.0</Version>")), "Logging: <Version> is missing"},
		{"logging without Read", properties(without(logging, "<Read>true</Read>")), "Logging: <Read> is missing"},
		{"logging without Write", properties(without(logging, "<Write>false</Write>")), "Logging: <Write> is missing"},
		{"logging without Delete", properties(without(logging, "<Delete>true</Delete>")), "Logging: <Delete> is missing"},
		{"logging without retention", properties(without(logging, retention)), "Logging: <RetentionPolicy> is missing"},
		{"metrics without a version", properties(without(metrics, "<Version>1.0</Version>")), "HourMetrics: <Version> is missing"},
		{"metrics neither on nor off", properties(without(metrics, "<Enabled>true</Enabled>")), "HourMetrics: <Enabled> is missing"},
		{"metrics without retention", properties(without(metrics, retention)), "HourMetrics: <RetentionPolicy> is missing"},
		{"metrics on without APIs", properties(without(metrics, "<IncludeAPIs>false</IncludeAPIs>")), "HourMetrics: <IncludeAPIs> is missing"},
		{"another version", properties(strings.Replace(logging, "1.0", "2.0", 1)), "Logging/Version: the version must be 1.0"},
		{"what is deleted of blobs", properties("<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>"), "DeleteRetentionPolicy: this is for blobs"},
		{"the web site of blobs", properties("<StaticWebsite><Enabled>false</Enabled></StaticWebsite>"), "StaticWebsite: this is for blobs"},
		{"the protocol of files", properties("<ProtocolSettings/>"), "ProtocolSettings: this is for files"},
		{"the version of blobs", properties("<DefaultServiceVersion>2011-08-18</DefaultServiceVersion>"), "DefaultServiceVersion: this is for blobs"},
		{"a flag in numbers", properties(strings.Replace(logging, "<Read>true", "<Read>1", 1)), "Logging/Read: neither true nor false"},
		{"an empty flag", properties(strings.Replace(metrics, "<Enabled>true", "<Enabled>", 1)), "HourMetrics/Enabled: neither"},
		{"an element within a flag", properties(strings.Replace(metrics, "<Enabled>true", "<Enabled><a/>", 1)), "HourMetrics/Enabled: xml: an element"},
		{"hour metrics by both names", properties(metrics, strings.ReplaceAll(metrics, "HourMetrics", "Metrics")), "Metrics: Metrics and HourMetrics are the same"},
		{"logging twice", properties(logging, logging), "Logging: at most 1"},
		{"rules twice", properties("<Cors/>", "<Cors/>"), "Cors: at most 1"},

		{"six rules", cors(rule, rule, rule, rule, rule, rule), "StorageServiceProperties/Cors/CorsRule[6]: at most 5"},
		{"no methods element", cors(without(rule, "<AllowedMethods>GET</AllowedMethods>")), "CorsRule[1]: <AllowedMethods> is missing"},
		{"no origins element", cors(without(rule, "<AllowedOrigins>*</AllowedOrigins>")), "<AllowedOrigins> is missing"},
		{"no allowed headers element", cors(without(rule, "<AllowedHeaders/>")), "<AllowedHeaders> is missing"},
		{"no exposed headers element", cors(without(rule, "<ExposedHeaders></ExposedHeaders>")), "<ExposedHeaders> is missing"},
		{"no age element", cors(without(rule, "<MaxAgeInSeconds>0</MaxAgeInSeconds>")), "<MaxAgeInSeconds> is missing"},
		{"no methods", cors(rule, replaced("AllowedMethods", " ")), "CorsRule[2]/AllowedMethods: name at least one"},
		{"no origins", cors(replaced("AllowedOrigins", "")), "AllowedOrigins: name at least one"},
		{"an unknown method", cors(replaced("AllowedMethods", "GET,BREW")), "AllowedMethods: a method must be one of"},
		{"a method in lower case", cors(replaced("AllowedMethods", "get")), "AllowedMethods: a method must be one of"},
		{"every method is not a method", cors(replaced("AllowedMethods", "*")), "AllowedMethods: a method must be one of"},
		{"a comma too many", cors(replaced("AllowedMethods", "GET,")), "AllowedMethods: a method must be one of"},
		{"65 origins", cors(replaced("AllowedOrigins", many("http://o", 65))), "InvalidXmlNodeValue AllowedOrigins: at most 64"},
		{"an origin of 257 characters", cors(replaced("AllowedOrigins", strings.Repeat("a", 257))), "AllowedOrigins: an origin has at most 256"},
		{"an empty origin", cors(replaced("AllowedOrigins", "http://a,,http://b")), "AllowedOrigins: an origin in the list is empty"},
		{"65 names", cors(replaced("AllowedHeaders", many("h", 65))), "InvalidXmlNodeValue AllowedHeaders: at most 64"},
		{"65 names to expose", cors(replaced("ExposedHeaders", many("h", 65))), "InvalidXmlNodeValue ExposedHeaders: at most 64"},
		{"3 prefixes", cors(replaced("AllowedHeaders", "a*,b*,c*")), "InvalidXmlNodeValue AllowedHeaders: at most 2"},
		{"2 prefixes and an asterisk", cors(replaced("ExposedHeaders", "a*,b*,*")), "InvalidXmlNodeValue ExposedHeaders: at most 2"},
		{"a name of 257 characters", cors(replaced("AllowedHeaders", strings.Repeat("h", 257))), "AllowedHeaders: a header name has at most 256"},
		{"a name that would split a response", cors(replaced("ExposedHeaders", "a&#13;&#10;Set-Cookie: b")), "ExposedHeaders: a list of header names"},
		{"a name that is none", cors(replaced("AllowedHeaders", "x ms")), "AllowedHeaders: a list of header names"},
		{"an age below 0", cors(replaced("MaxAgeInSeconds", "-1")), "MaxAgeInSeconds: not a whole number from 0"},
		{"half a second", cors(replaced("MaxAgeInSeconds", "0.5")), "MaxAgeInSeconds: not a whole number"},
		{"no age", cors(replaced("MaxAgeInSeconds", "")), "MaxAgeInSeconds: not a whole number"},
		{"2049 bytes of rules", cors(replaced("AllowedHeaders", sized(2049-len("GET*0")))), "CorsRule[1]: all rules together"},
		{"2049 bytes of rules together", cors(rule, replaced("AllowedHeaders", sized(2049-2*len("GET*0")))), "CorsRule[2]: all rules together"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			p := configured()
			// Add a valid Logging before the wrong element. Update must not apply this Logging, because a refused
			// document changes nothing.
			body := c.body
			if !strings.Contains(body, "<Logging>") {
				body = strings.Replace(body, "<StorageServiceProperties>", "<StorageServiceProperties>"+logging, 1)
			}
			refusedFor(t, p.Update([]byte(body)), c.want)
			if diff := cmp.Diff(configured(), p); diff != "" {
				t.Errorf("Update failed, but changed the properties: -before +after\n%s", diff)
			}
		})
	}
}
