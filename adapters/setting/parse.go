// Package setting parses settings: flags, environment variables, the configuration file, and the variables of a Worker.
// Errors say what to write instead.
//
// The package does not use fmt or reflection, which would make a WebAssembly module large.
package setting

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Int parses a whole number, which must be between the bounds least and most.
func Int(text string, minimum, maximum int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < minimum || n > maximum {
		return 0, errors.New("write a whole number from " + strconv.Itoa(minimum) + " to " + strconv.Itoa(maximum))
	}
	return n, nil
}

// Number parses a number, which must be between the bounds least and most.
func Number(text string, minimum, maximum float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= minimum && n <= maximum) { // this also rejects NaN, because each comparison with NaN is false
		return 0, errors.New("write a number from " + format(minimum) + " to " + format(maximum))
	}
	return n, nil
}

func format(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

const maxDuration = time.Duration(1<<63 - 1)

// NegativeIfZero converts a setting for which 0 means "never cache" to an option for which 0 means "use the default":
// it returns -1 for 0.
func NegativeIfZero(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// Duration parses a duration with its unit. The duration must be between the bounds least and most. A whole number of
// days, such as 30d, is also valid.
func Duration(text string, minimum, maximum time.Duration) (time.Duration, error) {
	hours, days := strings.CutSuffix(text, "d")
	if days {
		hours += "h"
	}
	d, err := time.ParseDuration(hours)
	tooLong := days && (d > maxDuration/24 || d < -maxDuration/24)
	if days {
		d *= 24
	}
	if err != nil || tooLong || d < minimum || d > maximum {
		return 0, errors.New("write a duration with its unit, such as 500ms, 10s, 15m or 30d, from " + minimum.String() + " to " + formatBound(maximum))
	}
	return d, nil
}

// formatBound formats a bound of a duration for error messages, in whole days if it is at least a day.
func formatBound(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 {
		return strconv.FormatInt(int64(days), 10) + "d"
	}
	return d.String()
}

// units lists the units of sizes in bytes.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3},
}

// Size parses a number of bytes with its unit. The size must be between the bounds least and most. Zero needs no unit.
func Size(text string, minimum, maximum int64) (int64, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimRight(number, " "), 10, 63)
		if size := int64(n) * u.bytes; err == nil && int64(n) <= maximum/u.bytes && size >= minimum {
			return size, nil
		}
	}
	if text == "0" && minimum <= 0 {
		return 0, nil
	}
	return 0, errors.New("write a size with its unit, such as 512MiB or 2GiB, from " + ShowSize(minimum) + " to " + ShowSize(maximum))
}

// ShowSize formats a size so that Size can parse it.
func ShowSize(n int64) string {
	for _, u := range units {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// Bool parses true or false.
func Bool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("write true or false")
}

// Rates are limits per second; 0 means no limit.
type Rates struct{ Account, Partition float64 }

// azure contains the rates that Azure promises: operations per account and entities per partition.
var azure = Rates{Account: 20_000, Partition: 2_000}

// ParseRates parses "none", "azure", or rates such as "account=20000,partition=2000".
func ParseRates(text string) (r Rates, err error) {
	switch text {
	case "none":
		return r, nil
	case "azure":
		return azure, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || !(n > 0 && n <= 1e9):
		case name == "account":
			r.Account = n
			continue
		case name == "partition":
			r.Partition = n
			continue
		}
		return Rates{}, errors.New("write none, azure, or rates per second such as account=20000,partition=2000")
	}
	return r, nil
}

// String formats the rates so that ParseRates can parse them.
func (r Rates) String() string {
	var parts []string
	if r.Account > 0 {
		parts = append(parts, "account="+format(r.Account))
	}
	if r.Partition > 0 {
		parts = append(parts, "partition="+format(r.Partition))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ",")
}

func list(text string) (values []string) {
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}
