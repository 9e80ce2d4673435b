package settings

import (
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/sas"
	"edgetable/core/xml"
)

// Limits of a table's policies.
const (
	maxPolicies = 5
	maxID       = 64 // maximum length of an ID in UTF-16 code units
)

// ParsePolicies parses the document of PUT /mytable?comp=acl. An empty body, or an empty SignedIdentifiers, means no
// policies. The error is a *table.Error with InvalidXmlDocument.
func ParsePolicies(body []byte) ([]sas.Policy, error) {
	if len(body) == 0 {
		return nil, nil
	}
	var policies []sas.Policy
	err := parse(body, "SignedIdentifiers", func(d *document) error {
		return d.children(child{name: "SignedIdentifier", maxCount: maxPolicies, read: func() error {
			p, err := d.policy()
			if err != nil {
				return err
			}
			if slices.ContainsFunc(policies, func(other sas.Policy) bool { return other.ID == p.ID }) {
				return d.refuse("another policy has the same Id")
			}
			policies = append(policies, p)
			return nil
		}})
	})
	if err != nil {
		return nil, err
	}
	return policies, nil
}

func (d *document) policy() (p sas.Policy, err error) {
	err = d.children(
		child{name: "Id", need: required, read: func() error {
			if err := d.text(&p.ID)(); err != nil {
				return err
			}
			if p.ID == "" || tooLong(p.ID, maxID) {
				return d.refuse("must have 1 to 64 characters")
			}
			return nil
		}},
		child{name: "AccessPolicy", read: func() error {
			return d.children(
				child{name: "Start", read: d.time(&p.Start)},
				child{name: "Expiry", read: d.time(&p.Expiry)},
				child{name: "Permission", read: d.permissions(&p.Permissions)},
			)
		}},
	)
	return p, err
}

// time returns a function that reads a time into dst. An empty element leaves dst unchanged.
func (d *document) time(dst **edm.Ticks) func() error {
	return func() error {
		var s string
		if err := d.text(&s)(); err != nil {
			return err
		}
		if s = trim(s); s == "" {
			return nil
		}
		t, err := sas.ParseTime(s)
		if err != nil {
			return d.refuse(err.Error())
		}
		*dst = &t
		return nil
	}
}

// permissions returns a function that reads permissions and preserves their order.
func (d *document) permissions(dst *string) func() error {
	return func() error {
		var s string
		if err := d.text(&s)(); err != nil {
			return err
		}
		s = trim(s)
		for i := 0; i < len(s); i++ {
			if strings.IndexByte("raud", s[i]) < 0 || strings.IndexByte(s[:i], s[i]) >= 0 {
				return d.refuse("permissions must consist of the letters r, a, u and d, each at most once")
			}
		}
		*dst = s
		return nil
	}
}

// AppendPolicies appends the document of GET /mytable?comp=acl, in the form in which stores hold it. It omits fields
// that a policy does not set.
func AppendPolicies(dst []byte, policies []sas.Policy) []byte {
	dst = append(dst, xml.Header...)
	if len(policies) == 0 {
		return append(dst, "<SignedIdentifiers />"...)
	}
	dst = append(dst, "<SignedIdentifiers>"...)
	for i := range policies {
		p := &policies[i]
		dst = appendText(append(dst, "<SignedIdentifier>"...), "Id", p.ID)
		if p.Start != nil || p.Expiry != nil || p.Permissions != "" {
			dst = append(dst, "<AccessPolicy>"...)
			dst = appendTime(dst, "Start", p.Start)
			dst = appendTime(dst, "Expiry", p.Expiry)
			if p.Permissions != "" {
				dst = appendText(dst, "Permission", p.Permissions)
			}
			dst = append(dst, "</AccessPolicy>"...)
		}
		dst = append(dst, "</SignedIdentifier>"...)
	}
	return append(dst, "</SignedIdentifiers>"...)
}

func appendTime(dst []byte, name string, t *edm.Ticks) []byte {
	if t == nil {
		return dst
	}
	return appendEnd(sas.AppendTime(appendStart(dst, name), *t), name)
}
