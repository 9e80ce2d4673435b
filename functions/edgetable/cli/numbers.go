package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Commas formats a number with thousands separators.
func Commas(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Things formats a number and a noun, for example "1 entity" or "2,000 entities". The noun must be in the plural.
func Things[N int | int64 | uint64](n N, plural string) string {
	if n != 1 {
		return Commas(int64(n)) + " " + plural
	}
	for _, end := range [][2]string{{"ies", "y"}, {"ches", "ch"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(plural, end[0]); ok {
			return "1 " + stem + end[1]
		}
	}
	return "1 " + plural
}

// ShowLatency formats a short duration with three significant digits.
func ShowLatency(d time.Duration) string {
	for _, u := range []struct {
		most time.Duration
		unit time.Duration
		name string
	}{{time.Millisecond, time.Microsecond, "µs"}, {time.Second, time.Millisecond, "ms"}, {time.Minute, time.Second, "s"}} {
		if d < u.most {
			value, places := float64(d)/float64(u.unit), 2
			for top := value; top >= 10 && places > 0; top /= 10 {
				places--
			}
			return strconv.FormatFloat(value, 'f', places, 64) + " " + u.name
		}
	}
	return ShowDuration(d.Round(time.Second))
}

// ShowBytes formats a number of bytes.
func ShowBytes(n int64) string {
	if n < 1<<10 {
		return Things(n, "bytes")
	}
	value, unit := float64(n), -1
	for value >= 1<<10 {
		value /= 1 << 10
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[unit])
}
