package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/core/protocol"
)

// maxDuration is the maximum duration in a rule. A longer duration is probably a mistake in the unit.
const maxDuration = 24 * time.Hour

// Parse parses rules that are separated by semicolons or line ends. A # begins a comment, which ends at the end of the
// line.
func Parse(spec string) ([]Rule, error) { return Read(strings.NewReader(spec)) }

// Read parses the rules in a file; see [Parse] for the syntax.
func Read(r io.Reader) ([]Rule, error) {
	var rules []Rule
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	for number := 1; lines.Scan(); number++ {
		for rest := lines.Text(); rest != ""; {
			var words []word
			var err error
			words, rest, err = split(rest)
			var rule Rule
			if err == nil && len(words) > 0 {
				rule, err = newRule(words)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d, rule %d: %w", number, len(rules)+1, err)
			}
			if len(words) > 0 {
				rules = append(rules, rule)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("after rule %d: %w", len(rules), err)
	}
	return rules, nil
}

type word struct{ key, value string }

// special returns true for a character that ends a key or a value of a rule.
func special(c rune) bool { return blank(c) || c == ';' || c == '#' || c == '"' || c < ' ' }

func blank(c rune) bool { return c == ' ' || c == '\t' || c == '\r' }

// split splits the first rule of a line into words, and returns the rest of the line.
func split(line string) (words []word, remaining string, err error) {
	for {
		line = strings.TrimLeftFunc(line, blank)
		switch {
		case line == "" || line[0] == '#':
			return words, "", nil
		case line[0] == ';':
			return words, line[1:], nil
		}
		key, value, ok := strings.Cut(line, "=")
		if end := strings.IndexFunc(line, special); !ok || end >= 0 && end < len(key) {
			if end < 0 {
				end = len(line)
			}
			return nil, "", fmt.Errorf("%q is not of the form key=value; the keys are %s", line[:max(end, 1)], list(keys))
		}
		if strings.HasPrefix(value, `"`) {
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				return nil, "", fmt.Errorf("the string of %s has no closing quote: %s", key, value)
			}
			line = value[len(quoted):]
			if value, err = strconv.Unquote(quoted); err != nil {
				return nil, "", fmt.Errorf("%s=%s: not a string", key, quoted)
			}
		} else {
			end := strings.IndexFunc(value, special)
			if end < 0 {
				end = len(value)
			}
			value, line = value[:end], value[end:]
		}
		if slices.ContainsFunc(words, func(w word) bool { return w.key == key }) {
			return nil, "", fmt.Errorf("%s occurs twice: write a rule for each, separated by a semicolon", key)
		}
		words = append(words, word{key, value})
	}
}

// keys lists the keys of a rule, in the order of error messages.
var keys = []string{"account", "operation", "table", "partition", "probability", "seed", "every", "count",
	"latency", "fault", "being-deleted"}

func newRule(words []word) (r Rule, err error) {
	for _, w := range words {
		if w.value == "" {
			return Rule{}, fmt.Errorf("%s= has no value", w.key)
		}
		switch w.key {
		case "account":
			r.Account = w.value
		case "operation":
			r.Operations, err = parseOperations(w.value)
		case "table":
			r.Table = w.value
		case "partition":
			r.Partition = w.value
		case "probability":
			r.Probability, err = strconv.ParseFloat(w.value, 64)
			if err != nil || !(r.Probability > 0 && r.Probability <= 1) {
				err = errors.New("write a number above 0 and up to 1")
			}
		case "seed":
			if r.Seed, err = strconv.ParseUint(w.value, 10, 64); err != nil || r.Seed == 0 {
				err = errors.New("write a whole number above 0")
			}
		case "every":
			r.Every, err = parseCount(w.value)
		case "count":
			r.Count, err = parseCount(w.value)
		case "latency":
			r.Latency, err = parseLatency(w.value)
		case "fault":
			r.Fault, err = parseFault(w.value)
		case "being-deleted":
			r.BeingDeleted, err = parseDuration(w.value)
		default:
			return Rule{}, fmt.Errorf("unknown key %s; the keys are %s", w.key, list(keys))
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s=%s: %w", w.key, w.value, err)
		}
	}
	return r, r.check()
}

// check returns an error if parts of the rule contradict each other.
func (r *Rule) check() error {
	fails := r.Fault != "" || r.Latency[1] > 0
	switch {
	case !fails && r.BeingDeleted == 0:
		return errors.New("this rule simulates nothing: add latency=200ms, being-deleted=30s or fault= with one of " + list(faults))
	case r.BeingDeleted > 0 && fails:
		return errors.New("the key \"being-deleted\" needs a separate rule, because it affects the name of a table; the keys \"latency\" and \"fault\" affect requests")
	case r.BeingDeleted > 0 && (r.Operations != nil || r.Partition != ""):
		return errors.New("the key \"being-deleted\" affects only DeleteTable: remove the keys \"operation\" and \"partition\" from its rule")
	case r.Probability > 0 && r.Every > 0:
		return errors.New("the keys \"probability\" and \"every\" exclude each other: write only one of these keys")
	case r.Seed > 0 && r.Probability == 0 && r.Latency[0] == r.Latency[1]:
		return errors.New("the key \"seed\" has an effect only with the key \"probability\" or with two limits such as latency=50ms-500ms")
	}
	return nil
}

func parseOperations(value string) ([]string, error) {
	operations := protocol.Operations()
	names := strings.Split(value, ",")
	for i, name := range names {
		if name == classRead || name == classWrite {
			continue
		}
		known := slices.IndexFunc(operations, func(o string) bool { return likeFold(name, o) })
		if known < 0 {
			return nil, fmt.Errorf("there is no operation %q: write read, write, %s, or a pattern such as *Entity", name, list(operations))
		}
		if !strings.Contains(name, "*") {
			names[i] = operations[known]
		}
	}
	return names, nil
}

func parseFault(value string) (Fault, error) {
	switch value {
	case "InternalError":
		return InternalError, nil
	case "ServerBusy":
		return ServerBusy, nil
	case "latency", "being-deleted":
		return "", fmt.Errorf("this is a key of the rule, not a value of the key \"fault\": write %s=1s instead of fault=", value)
	}
	if !slices.Contains(faults, value) {
		return "", fmt.Errorf("unknown fault: write %s, or use latency=200ms or being-deleted=30s", list(faults))
	}
	return Fault(value), nil
}

func parseCount(value string) (int, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 {
		return 0, errors.New("write a whole number above 0")
	}
	return int(n), nil
}

func parseDuration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > maxDuration {
		return 0, errors.New("write a time with its unit, such as 200ms, 1.5s or 1m, up to 24h")
	}
	return d, nil
}

func parseLatency(value string) (l [2]time.Duration, err error) {
	from, to, isRange := strings.Cut(value, "-")
	if l[0], err = parseDuration(from); err != nil {
		return l, err
	}
	l[1] = l[0]
	if isRange {
		if l[1], err = parseDuration(to); err == nil && l[1] < l[0] {
			err = errors.New("the range ends before it begins")
		}
	}
	return l, err
}

// list joins at least two names, as in "a, b or c".
func list(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
