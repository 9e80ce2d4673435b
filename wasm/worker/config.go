package main

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// config is what the variables of a Worker say, secrets among them.
type config struct {
	accounts     accounts.List
	pathStyle    bool
	maxSkew      time.Duration
	settingsAge  time.Duration
	scannedBytes int
	failures     float64
	rates        rates
	buckets      uint16
	location     string
	catalog      string
	replica      string // its name, "": there is none
	jurisdiction string // of the replica
}

// rates are limits a second; 0 does not limit. Each isolate counts for itself, of
// which the platform has many. They stop a client that runs wild, and are no quota.
type rates struct{ account, partition float64 }

// readConfig reads variables as the shell sends them: name=value, with a zero
// byte behind each.
func readConfig(text string) (*config, error) {
	values := readVariables(text)
	c := &config{location: values["EDGETABLE_LOCATION"], catalog: values["EDGETABLE_CATALOG_LOCATION"]}
	development, err := truth(values, "EDGETABLE_DEVELOPMENT")
	if err != nil {
		return nil, err
	}
	if c.accounts, err = c.accounts.Next(values[accounts.Variable]); err != nil {
		return nil, errors.New(accounts.Variable + ": " + err.Error())
	}
	if c.accounts.HasDevelopmentKey() && !development {
		return nil, errors.New(accounts.Variable + ": the development account's key is known to everybody: give accounts keys of their own, or set EDGETABLE_DEVELOPMENT=true where nobody else can reach the Worker")
	}
	if c.pathStyle, err = truth(values, "EDGETABLE_PATH_STYLE"); err != nil {
		return nil, err
	}
	skew, err := number(values, "EDGETABLE_MAX_SKEW", sharedkey.MaxSkew.Seconds(), 0, 1e6)
	if err != nil {
		return nil, err
	}
	c.maxSkew = time.Duration(skew * float64(time.Second))
	age, err := number(values, "EDGETABLE_SETTINGS_AGE", 30, 0, 3600)
	if err != nil {
		return nil, err
	}
	c.settingsAge = max(time.Duration(age*float64(time.Second)), 1) // 0 is the usual to the protocol
	scanned, err := number(values, "EDGETABLE_SCANNED_BYTES", 8<<20, 1<<16, 1<<30)
	if err != nil {
		return nil, err
	}
	c.scannedBytes = int(scanned)
	if c.failures, err = number(values, "EDGETABLE_MAX_FAILURES", 0, 0, 1e9); err != nil {
		return nil, err
	}
	if c.rates, err = parseRates(values["EDGETABLE_LIMITS"]); err != nil {
		return nil, err
	}
	buckets, err := number(values, "EDGETABLE_BUCKETS", 1, 1, 256)
	if err != nil {
		return nil, err
	}
	c.buckets = uint16(buckets)
	where := values["EDGETABLE_REPLICA_JURISDICTION"]
	jurisdiction, hint := durableobject.SplitLocation(where)
	if c.jurisdiction = jurisdiction; hint != "" {
		return nil, errors.New("EDGETABLE_REPLICA_JURISDICTION=" + strconv.Quote(where) + ": write a jurisdiction such as eu")
	}
	switch values["EDGETABLE_REPLICA"] {
	case "":
	case "bound": // as the shell says
		c.replica = cmp.Or(values["EDGETABLE_REPLICA_NAME"], "replica")
		if catalog, _ := durableobject.SplitLocation(c.catalog); catalog != "" && catalog != c.jurisdiction {
			return nil, errors.New("EDGETABLE_REPLICA: the catalogs are in " + catalog + ": without EDGETABLE_REPLICA_JURISDICTION=" + catalog + " nothing is published; bind a namespace that was made there")
		}
	default:
		return nil, errors.New("EDGETABLE_REPLICA: bind a namespace of Workers KV with this name; it is no variable")
	}
	return c, nil
}

func readVariables(text string) map[string]string {
	values := make(map[string]string)
	for variable := range strings.SplitSeq(text, "\x00") {
		if name, value, ok := strings.Cut(variable, "="); ok {
			values[name] = strings.TrimSpace(value)
		}
	}
	return values
}

func truth(values map[string]string, name string) (bool, error) {
	switch text := values[name]; text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, errors.New(name + "=" + strconv.Quote(text) + ": write true or false")
	}
}

func number(values map[string]string, name string, usual, least, most float64) (float64, error) {
	text := values[name]
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= least && n <= most) {
		return 0, errors.New(name + "=" + strconv.Quote(text) + ": write a number from " + strconv.FormatFloat(least, 'f', -1, 64) + " to " + strconv.FormatFloat(most, 'f', -1, 64))
	}
	return n, nil
}

// parseRates reads account=20000,partition=2000.
func parseRates(text string) (r rates, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case text == "":
			return r, nil
		case err != nil || !(n > 0 && n <= 1e9):
		case name == "account":
			r.account = n
			continue
		case name == "partition":
			r.partition = n
			continue
		}
		return r, errors.New("EDGETABLE_LIMITS=" + strconv.Quote(text) + ": write rates a second such as account=20000,partition=2000")
	}
	return r, nil
}
