package settings_test

import (
	"strconv"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

func at(t *testing.T, s string) *edm.Ticks {
	t.Helper()
	ticks, err := edm.ParseDateTime(s)
	if err != nil {
		t.Fatal(err)
	}
	return &ticks
}

// recorded is a response of the service with three policies: one with only an id, one with permissions, and one with
// all parts.
const recorded = `<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers><SignedIdentifier><Id>empty</Id></SignedIdentifier><SignedIdentifier><Id>partial</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>full</Id><AccessPolicy><Start>2021-06-08T02:10:09.0000000Z</Start><Expiry>2021-06-08T02:10:09.0000000Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`

func identifiers(policies ...string) string {
	return "<SignedIdentifiers>" + strings.Join(policies, "") + "</SignedIdentifiers>"
}

func identifier(id, access string) string {
	return "<SignedIdentifier><Id>" + id + "</Id><AccessPolicy>" + access + "</AccessPolicy></SignedIdentifier>"
}

func TestParsePolicies(t *testing.T) {
	t.Parallel()
	june := func() *edm.Ticks { return at(t, "2021-06-08T02:10:09Z") }
	start := func(s string) string { return identifiers(identifier("a", "<Start>"+s+"</Start>")) }
	started := func(s string) []sas.Policy { return []sas.Policy{{ID: "a", Start: at(t, s)}} }
	for _, c := range []struct {
		why, body string
		want      []sas.Policy
	}{
		{"no body, no policies", "", nil},
		{"an empty list", "<SignedIdentifiers />", nil},
		{"an empty list with a declaration and a mark", "\uFEFF<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<SignedIdentifiers>\r\n</SignedIdentifiers>\r\n", nil},
		{"as recorded", recorded, []sas.Policy{{ID: "empty"}, {ID: "partial", Permissions: "r"}, {ID: "full", Start: june(), Expiry: june(), Permissions: "r"}}},
		{"with a mark, as the service sends it", "\uFEFF" + recorded, []sas.Policy{{ID: "empty"}, {ID: "partial", Permissions: "r"}, {ID: "full", Start: june(), Expiry: june(), Permissions: "r"}}},
		{"indented, without a declaration, children in another order, as clients of Python write it", `
			<SignedIdentifiers>
			  <SignedIdentifier>
			    <AccessPolicy>
			      <Permission>raud</Permission>
			      <Expiry>2021-06-08T02:10:09Z</Expiry>
			      <Start> 2021-06-08T02:10:09Z
			      </Start>
			    </AccessPolicy>
			    <Id>a</Id>
			  </SignedIdentifier>
			</SignedIdentifiers>`, []sas.Policy{{ID: "a", Start: june(), Expiry: june(), Permissions: "raud"}}},
		{"empty elements are absent", identifiers(identifier("a", "<Start/><Expiry></Expiry><Permission /> ")), []sas.Policy{{ID: "a"}}},
		{"an access policy may be absent", identifiers("<SignedIdentifier><Id>a</Id></SignedIdentifier>"), []sas.Policy{{ID: "a"}}},
		{"permissions in any order", identifiers(identifier("a", "<Permission>dau</Permission>")), []sas.Policy{{ID: "a", Permissions: "dau"}}},
		{"elements of newer clients are skipped", identifiers("<New><Id>x</Id></New>", identifier("a", "<New/><Permission>r</Permission>")), []sas.Policy{{ID: "a", Permissions: "r"}}},
		{"a namespace has no meaning", `<SignedIdentifiers xmlns="urn:x"><p:SignedIdentifier xmlns:p="urn:y"><Id>a</Id></p:SignedIdentifier></SignedIdentifiers>`, []sas.Policy{{ID: "a"}}},
		{"an id of 64 characters, not bytes", identifiers(identifier(strings.Repeat("ä", 64), "")), []sas.Policy{{ID: strings.Repeat("ä", 64)}}},
		{"ids are compared to the letter", identifiers(identifier("a", ""), identifier("A", "")), []sas.Policy{{ID: "a"}, {ID: "A"}}},
		{"an id that needs escapes, blanks and all", identifiers(identifier("&lt;a&#13;&#10; &amp; b", "")), []sas.Policy{{ID: "<a\r\n & b"}}},
		{"five policies", identifiers(identifier("5", ""), identifier("4", ""), identifier("3", ""), identifier("2", ""), identifier("1", "")),
			[]sas.Policy{{ID: "5"}, {ID: "4"}, {ID: "3"}, {ID: "2"}, {ID: "1"}}},
		{"a date", start("2023-01-01"), started("2023-01-01")},
		{"a time to the minute", start("2023-01-01T10:20Z"), started("2023-01-01T10:20Z")},
		{"a time to the second, with a zone", start("2023-01-01T10:20:30+02:00"), started("2023-01-01T08:20:30Z")},
		{"a time to the tick", start("2023-01-01T10:20:30.1234567Z"), started("2023-01-01T10:20:30.1234567Z")},
		{"long ago is no matter", start("1601-01-01T00:00:00Z"), started("1601-01-01")},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			got, err := settings.ParsePolicies([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
			stored := settings.AppendPolicies(nil, got)
			wellFormed(t, stored)
			again, err := settings.ParsePolicies(stored)
			if err != nil {
				t.Fatalf("%s: %v", stored, err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("the stored policies differ: -parsed +read again\n%s", diff)
			}
		})
	}
}

func TestParsePoliciesRefuses(t *testing.T) {
	t.Parallel()
	var six []string
	for i := range 6 {
		six = append(six, identifier(strconv.Itoa(i), ""))
	}
	for _, c := range []struct{ why, body, want string }{
		{"six policies", identifiers(six...), "SignedIdentifiers/SignedIdentifier[6]: at most 5"},
		{"no id", identifiers("<SignedIdentifier/>"), "SignedIdentifier[1]: <Id> is missing"},
		{"an empty id", identifiers(identifier("", "")), "SignedIdentifier[1]/Id: must have 1 to 64"},
		{"an id of 65 characters", identifiers(identifier(strings.Repeat("a", 65), "")), "Id: must have 1 to 64"},
		{"33 characters that the service counts twice", identifiers(identifier(strings.Repeat("😀", 33), "")), "Id: must have 1 to 64"},
		{"the same id twice", identifiers(identifier("a", ""), identifier("b", ""), identifier("a", "")), "SignedIdentifier[3]: another policy"},
		{"two ids of one policy", identifiers("<SignedIdentifier><Id>a</Id><Id>b</Id></SignedIdentifier>"), "Id: at most 1"},
		{"two access policies of one policy", identifiers("<SignedIdentifier><Id>a</Id><AccessPolicy/><AccessPolicy/></SignedIdentifier>"), "AccessPolicy: at most 1"},
		{"a letter of another service", identifiers(identifier("a", "<Permission>rw</Permission>")), "AccessPolicy/Permission: permissions must"},
		{"letters are lower case", identifiers(identifier("a", "<Permission>R</Permission>")), "Permission: permissions must"},
		{"a letter twice", identifiers(identifier("a", "<Permission>rr</Permission>")), "Permission: permissions must"},
		{"blanks between letters", identifiers(identifier("a", "<Permission>r a</Permission>")), "Permission: permissions must"},
		{"not a time", identifiers(identifier("a", "<Start>tomorrow</Start>")), "AccessPolicy/Start: a time must have the form YYYY-MM-DD"},
		{"not a date", identifiers(identifier("a", "<Expiry>2023-02-29</Expiry>")), "AccessPolicy/Expiry: a time must"},
		{"a time without a zone", identifiers(identifier("a", "<Expiry>2023-02-28T10:20:30</Expiry>")), "Expiry: a time must"},
		{"a time before time", identifiers(identifier("a", "<Expiry>0001-01-01</Expiry>")), "Expiry: a time must"},
		{"an element where text belongs", identifiers(identifier("<a/>", "")), "Id: xml: an element where only text"},
		{"text where an element belongs", identifiers(identifier("a", "r")), "AccessPolicy: unexpected text"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			got, err := settings.ParsePolicies([]byte(c.body))
			refusedFor(t, err, c.want)
			if got != nil {
				t.Errorf("returned policies with an error: %v", got)
			}
		})
	}
}

func TestAppendPolicies(t *testing.T) {
	t.Parallel()
	june := at(t, "2021-06-08T02:10:09Z")
	for _, c := range []struct {
		why      string
		policies []sas.Policy
		want     string
	}{
		{"none", nil, `<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers />`},
		{"as recorded", []sas.Policy{{ID: "empty"}, {ID: "partial", Permissions: "r"}, {ID: "full", Start: june, Expiry: june, Permissions: "r"}}, recorded},
	} {
		if diff := cmp.Diff("before"+c.want, string(settings.AppendPolicies([]byte("before"), c.policies))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.why, diff)
		}
	}
}
