package main

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"edgetable/adapters/setting"
	"edgetable/adapters/store/durableobject"
	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// config contains the variables and secrets of a Worker.
type config struct {
	accounts     accounts.List
	pathStyle    bool
	extensions   bool
	maxSkew      time.Duration
	settingsAge  time.Duration
	scannedBytes int
	failures     float64
	rates        setting.Rates // limits of one isolate; a Worker has many isolates, so their total may exceed the limits
	buckets      uint16
	splitBytes   float64 // size above which a key range splits; 0 disables splits by size
	splitRate    float64 // requests per second above which a key range splits; 0 disables splits by load
	location     string
	catalog      string
	replica      string // name of the replica; "" if there is none
	jurisdiction string // jurisdiction of the replica
}

// readConfig parses the variables that the JavaScript shell passes: name=value, each followed by a zero byte.
func readConfig(text string) (*config, error) {
	values := readVariables(text)
	c := &config{location: values["EDGETABLE_LOCATION"], catalog: values["EDGETABLE_CATALOG_LOCATION"]}
	in := &setting.Reader{Lookup: func(name string) string { return values[name] }}
	development := in.Bool("EDGETABLE_DEVELOPMENT")
	c.pathStyle = in.Bool("EDGETABLE_PATH_STYLE")
	c.extensions = in.Bool("EDGETABLE_EXTENSIONS")
	c.maxSkew = in.Duration("EDGETABLE_MAX_SKEW", sharedkey.MaxSkew, 0, 366*24*time.Hour)
	c.settingsAge = max(in.Duration("EDGETABLE_SETTINGS_AGE", 30*time.Second, 0, time.Hour), 1) // the age is at least 1, because 0 would select the protocol's default
	c.scannedBytes = in.Int("EDGETABLE_SCANNED_BYTES", 8<<20, 1<<16, 1<<30)
	c.failures = in.Number("EDGETABLE_MAX_FAILURES", 0, 0, 1e9)
	c.rates = in.Rates("EDGETABLE_LIMITS")
	c.buckets = uint16(in.Int("EDGETABLE_BUCKETS", 1, 1, 256))
	c.splitBytes = in.Number("EDGETABLE_SPLIT_BYTES", 4e9, 0, 9e9)
	c.splitRate = in.Number("EDGETABLE_SPLIT_RATE", 300, 0, 1e6)
	err := in.Err()
	if err != nil {
		return nil, err
	}
	if c.accounts, err = c.accounts.Next(values[accounts.Variable]); err != nil {
		return nil, errors.New(accounts.Variable + ": " + err.Error())
	}
	if c.accounts.HasDevelopmentKey() && !development {
		return nil, errors.New(accounts.Variable + ": the development account's key is known to everybody: give accounts keys of their own, or set EDGETABLE_DEVELOPMENT=true where nobody else can reach the Worker")
	}
	where := values["EDGETABLE_REPLICA_JURISDICTION"]
	jurisdiction, hint := durableobject.SplitLocation(where)
	if c.jurisdiction = jurisdiction; hint != "" {
		return nil, errors.New("EDGETABLE_REPLICA_JURISDICTION=" + strconv.Quote(where) + ": write a jurisdiction such as eu")
	}
	switch values["EDGETABLE_REPLICA"] {
	case "":
	case "bound": // the JavaScript shell sets this value if the binding exists
		c.replica = cmp.Or(values["EDGETABLE_REPLICA_NAME"], "replica")
		if catalog, _ := durableobject.SplitLocation(c.catalog); catalog != "" && catalog != c.jurisdiction {
			return nil, errors.New("EDGETABLE_REPLICA: the catalogs are in " + catalog + ": without EDGETABLE_REPLICA_JURISDICTION=" + catalog + " nothing is published; bind a namespace that was made there")
		}
	default:
		return nil, errors.New("EDGETABLE_REPLICA is the name of a binding, not of a variable: bind a namespace of Workers KV with this name")
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
