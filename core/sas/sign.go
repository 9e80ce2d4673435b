package sas

import (
	"cmp"

	"edgetable/core/percent"
	"edgetable/core/sharedkey"
)

// Version is the default version of tokens, as in the service's own clients for tables.
const Version = "2019-02-02"

// TableValues holds the values of a token for one table. Times and addresses are signed exactly as given; see
// [ParseTime].
type TableValues struct {
	Version     string // version of the token; the default is [Version], or 2025-07-05 for a delegation
	Table       string
	Identifier  string // ID of a stored access policy; fields that the policy sets must be empty
	Start       string // start of validity, or "" for immediately
	Expiry      string
	Permissions string // letters in the order raud: r query, a add, u update, d delete
	IP          string // "168.1.5.65" or "168.1.5.60-168.1.5.70"; "" means any address
	Protocol    string // "https" or "https,http"; "" means "https,http"
	// Inclusive key range. "" means no bound, never an empty key. StartRow applies only in StartPartition, and EndRow
	// only in EndPartition.
	StartPartition, StartRow string
	EndPartition, EndRow     string
}

// AccountValues holds the values of an account token.
type AccountValues struct {
	Version       string // version of the token; the default is [Version]
	Services      string // service letters, with t for tables; the default is "t"
	ResourceTypes string // resource type letters: s service, c table, o entity
	Start         string
	Expiry        string
	Permissions   string // letters in the order rwdlacu: r read, w write, d delete, l list, a add, c create, u update
	IP            string
	Protocol      string
}

// Sign returns the token as a percent-encoded query without question mark. If Verify would reject the values, Sign
// fails with the same error.
func (v TableValues) Sign(account string, k *sharedkey.Key) (string, error) {
	return sign(v.fields(), account, k)
}

// SignDelegated is like Sign but signs with a delegation key. The token cannot name a stored access policy.
func (v TableValues) SignDelegated(account string, d DelegationKey) (string, error) {
	k, err := sharedkey.ParseKey(d.Value)
	if err != nil {
		return "", err
	}
	v.Version = cmp.Or(v.Version, DelegationVersion)
	values := v.fields()
	values[skoid], values[sktid] = d.ObjectID, d.TenantID
	values[skt], values[ske] = d.Start, d.Expiry
	values[sks], values[skv] = d.Service, d.Version
	return sign(values, account, k)
}

func (v TableValues) fields() *[fields]string {
	v.Version = cmp.Or(v.Version, Version)
	return &[fields]string{
		sv: v.Version, tn: v.Table, si: v.Identifier, st: v.Start, se: v.Expiry, sp: v.Permissions, sip: v.IP, spr: v.Protocol,
		spk: v.StartPartition, srk: v.StartRow, epk: v.EndPartition, erk: v.EndRow,
	}
}

// Sign returns the token as a query; see [TableValues.Sign].
func (v AccountValues) Sign(account string, k *sharedkey.Key) (string, error) {
	v.Version = cmp.Or(v.Version, Version)
	v.Services = cmp.Or(v.Services, "t")
	return sign(&[fields]string{
		sv: v.Version, ss: v.Services, srt: v.ResourceTypes, st: v.Start, se: v.Expiry, sp: v.Permissions, sip: v.IP, spr: v.Protocol,
	}, account, k)
}

// unfit returns the error for which a server would reject the token. It does not verify the signature.
func (t *Token) unfit() error {
	if err := t.check(); err != nil {
		return err
	}
	for _, f := range [...]field{st, se, skt, ske} {
		if t.given.has(f) {
			if _, err := t.time(f); err != nil {
				return err
			}
		}
	}
	if _, err := t.addresses(); err != nil {
		return err
	}
	_, err := t.needsHTTPS()
	return err
}

func sign(values *[fields]string, account string, k *sharedkey.Key) (string, error) {
	values[sig] = "to be made"
	t, err := newToken(values, func(dst []byte, s string) ([]byte, bool) { return append(dst, s...), true })
	if err != nil {
		return "", err
	}
	if err := t.unfit(); err != nil {
		return "", err
	}
	values[sig] = k.SignLines(t.lines(make([]string, 0, maxLines), account))
	out := make([]byte, 0, 256)
	for f, value := range values {
		if value == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, '&')
		}
		out = append(out, fieldNames[f]...)
		out = append(out, '=')
		out = percent.AppendEscaped(out, value)
	}
	return string(out), nil
}
