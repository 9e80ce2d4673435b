package settings

import (
	"edgetable/core/sas"
	"edgetable/core/xml"
)

// ParseKeyInfo parses the document of POST /?restype=service&comp=userdelegationkey:
//
//	<KeyInfo><Start>2023-01-01T00:00:00Z</Start><Expiry>2023-01-02T00:00:00Z</Expiry></KeyInfo>
//
// A missing or empty Start means now; start is then "". Both times are returned as sent, without surrounding blanks;
// [sas.Delegate] parses them. The error is a *table.Error with InvalidXmlDocument.
//
// A request for a key that only users of another tenant may use is rejected, because the server does not support this.
func ParseKeyInfo(body []byte) (start, expiry string, err error) {
	var tenant string
	err = parse(body, "KeyInfo", func(d *document) error {
		err := d.children(
			child{name: "Start", read: d.text(&start)},
			child{name: "Expiry", need: required, read: d.text(&expiry)},
			child{name: "DelegatedUserTid", read: d.text(&tenant)},
		)
		switch {
		case err != nil:
			return err
		case blank(expiry):
			return d.refuse("Expiry is empty; send the time at which the key expires")
		case !blank(tenant):
			return d.refuse("DelegatedUserTid is not supported; omit it")
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	return trim(start), trim(expiry), nil
}

// AppendDelegationKey appends the response to a request for a delegation key, without a byte order mark. The element
// <Value> is a secret.
func AppendDelegationKey(dst []byte, k sas.DelegationKey) []byte {
	dst = append(dst, xml.Header+"<UserDelegationKey>"...)
	dst = appendText(dst, "SignedOid", k.ObjectID)
	dst = appendText(dst, "SignedTid", k.TenantID)
	dst = appendText(dst, "SignedStart", k.Start)
	dst = appendText(dst, "SignedExpiry", k.Expiry)
	dst = appendText(dst, "SignedService", k.Service)
	dst = appendText(dst, "SignedVersion", k.Version)
	dst = appendText(dst, "Value", k.Value)
	return append(dst, "</UserDelegationKey>"...)
}
