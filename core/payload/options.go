package payload

import (
	"strconv"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// longestAfter is the maximum lifetime in an expiry rule: 100 years of 365 days.
const longestAfter = 36_500 * day

const (
	hour = 3600 * edm.TicksPerSecond
	day  = 24 * hour
)

// ReadOptions parses the document of PUT /mytable?comp=options:
//
//	{"expire": {"property": "ExpiresAt", "after": "P30D"}, "changes": {"keep": "P7D"}}
//
// A part that is absent or null removes the option from the table. The members with which [AppendOptions] reports the
// state of a part are ignored. An error is OptionsInvalid with the JSON path of the mistake.
func ReadOptions(body []byte) (o table.TableOptions, err error) {
	r := optionsReader{scanner{body: body}}
	if len(body) > maxOptions {
		return o, badOptions("$", "the document is longer than 16 KiB")
	}
	err = r.object("$", func(path, name string) error {
		switch name {
		case "expire":
			if r.null() {
				return nil
			}
			o.Expire = new(table.Expiry)
			return r.expire(path, o.Expire)
		case "ending":
			return r.object(path, func(string, string) error { return r.ignore() })
		case "changes":
			if r.null() {
				return nil
			}
			o.Changes = &table.Feed{Keep: usualKeep}
			return r.changes(path, o.Changes)
		case "indexes", "webhooks":
			return badOptions(path, "this version of edgetable does not support this option")
		}
		return badOptions(path, "unknown option; the options are named expire and changes")
	})
	if err == nil && r.skip() != 0 {
		err = badOptions("$", "unexpected text after the closing brace")
	}
	return o, err
}

const maxOptions = 16 << 10

func badOptions(path, what string) error {
	return table.OptionsInvalid.With(table.OptionsInvalid.Err().Message + " " + path + ": " + what + ".")
}

type optionsReader struct{ scanner }

func (r *optionsReader) expire(path string, e *table.Expiry) error {
	err := r.object(path, func(path, name string) (err error) {
		switch name {
		case "property":
			if e.Property, err = r.string(path); err != nil {
				return err
			}
			if table.CheckPropertyName(e.Property) != nil {
				return badOptions(path, "not a valid property name")
			}
			if e.Property == "PartitionKey" || e.Property == "RowKey" || e.Property == "Timestamp" {
				return badOptions(path, "name a property other than PartitionKey, RowKey and Timestamp; the member named after counts from the Timestamp")
			}
			return nil
		case "after":
			e.After, err = r.duration(path)
			return err
		case "state", "undoUntil":
			return r.ignore()
		}
		return badOptions(path, "unknown member; the allowed members are named property and after")
	})
	if err == nil && e.Property == "" && e.After == 0 {
		return badOptions(path, "a member named property or after is required")
	}
	return err
}

// usualKeep is how long a feed retains changes by default.
const usualKeep = 7 * day

func (r *optionsReader) changes(path string, f *table.Feed) error {
	return r.object(path, func(path, name string) (err error) {
		switch name {
		case "keep":
			f.Keep, err = r.duration(path)
			return err
		case "state":
			return r.ignore()
		}
		return badOptions(path, "unknown member; the only allowed member is named keep")
	})
}

func (r *optionsReader) duration(path string) (edm.Ticks, error) {
	text, err := r.string(path)
	if err != nil {
		return 0, err
	}
	d, ok := parseDuration(text)
	if !ok {
		return 0, badOptions(path, "write a duration of 1 second to 36500 days such as P30D, PT12H or P1DT30M; months and years are not allowed, because their lengths vary")
	}
	return d, nil
}

// object reads an object. For each member, it reads the name and calls a function, which must read the value.
func (r *optionsReader) object(path string, member func(path, name string) error) error {
	if r.skip() != '{' {
		return badOptions(path, "expected an object, {…}")
	}
	r.pos++
	var seen []string
	for {
		c := r.skip()
		switch {
		case c == '}':
			r.pos++
			return nil
		case len(seen) > 0 && c != ',':
			return badOptions(path, "byte "+strconv.Itoa(r.pos)+": expected , or }")
		case len(seen) > 0:
			r.pos++
			r.skip()
		}
		t, err := r.text()
		name, _, _ := t.characters(nil)
		inside := path + "." + cut(name)
		if err != nil || r.skip() != ':' {
			return badOptions(path, "byte "+strconv.Itoa(r.pos)+": expected a name in quotes and a colon")
		}
		r.pos++
		for _, other := range seen {
			if other == name {
				return badOptions(inside, "this name occurs twice")
			}
		}
		seen = append(seen, name)
		if err := member(inside, name); err != nil {
			return err
		}
	}
}

// null reports whether the next value is the literal null. If it is, the method skips the literal.
func (r *optionsReader) null() bool {
	if r.skip() != 'n' {
		return false
	}
	_, err := r.word("null", kindNull)
	return err == nil
}

func (r *optionsReader) string(path string) (string, error) {
	r.skip()
	t, err := r.text()
	if err != nil {
		return "", badOptions(path, "expected a string")
	}
	s, _, _ := t.characters(nil)
	return string([]byte(s)), nil // the text is copied, because the caller may reuse the memory of the body
}

func (r *optionsReader) ignore() error {
	_, err := r.scalar()
	if err != nil {
		return badOptions("$", "byte "+strconv.Itoa(r.pos)+": expected a single value")
	}
	return nil
}

// AppendOptions appends the document of GET /mytable?comp=options. It contains the members that [ReadOptions] reads,
// and additionally "state" in an expiry rule and a change feed. Two more members concern expiry:
//
//   - "undoUntil" is present for a new rule. If the rule is withdrawn before this time, all entities that have expired
//     under the rule are restored.
//   - "ending" is a withdrawn or replaced rule. It is present until all entities that have expired under this rule are
//     removed.
func AppendOptions(dst []byte, t *table.Traits, now edm.Ticks) []byte {
	w := object{b: append(dst, '{')}
	if t != nil && t.Expiry != nil {
		w.begin("expire", '{')
		w.rule(t.Expiry)
		w.text("state", "active")
		if undo := t.Expiry.Since + table.UndoTime; now < undo {
			w.text("undoUntil", undo.String())
		}
		w.end('}')
	}
	if t != nil && t.Ending != nil {
		w.begin("ending", '{')
		w.rule(t.Ending)
		w.text("until", t.Ending.Until.String())
		w.end('}')
	}
	if t.Feeds() {
		w.begin("changes", '{')
		w.text("keep", formatDuration(t.Feed.Keep))
		w.text("state", "active")
		w.end('}')
	}
	w.end('}')
	return w.b
}

func (w *object) rule(e *table.Expiry) {
	if e.Property != "" {
		w.text("property", e.Property)
	}
	if e.After != 0 {
		w.text("after", formatDuration(e.After))
	}
}

// units lists the fixed-length units of ISO 8601 durations, in the order of the format.
var units = [...]struct {
	letter byte
	time   bool // whether the unit follows the letter T
	length edm.Ticks
}{
	{'W', false, 7 * day}, {'D', false, day}, {'H', true, hour}, {'M', true, hour / 60}, {'S', true, edm.TicksPerSecond},
}

func parseDuration(s string) (d edm.Ticks, ok bool) {
	if len(s) < 3 || s[0] != 'P' || len(s) > 40 {
		return 0, false
	}
	time := false
	next := 0 // index of the first unit that may still follow
	for s = s[1:]; s != ""; {
		if s[0] == 'T' {
			if time {
				return 0, false
			}
			time, s = true, s[1:]
		}
		n, i := edm.Ticks(0), 0
		for i < len(s) && s[i]-'0' <= 9 && i < 12 {
			n = 10*n + edm.Ticks(s[i]-'0')
			i++
		}
		if i == 0 || i == len(s) {
			return 0, false
		}
		for next < len(units) && (units[next].letter != s[i] || units[next].time != time) {
			next++
		}
		if next == len(units) || n > longestAfter/units[next].length {
			return 0, false
		}
		d += n * units[next].length
		next++
		s = s[i+1:]
	}
	return d, d >= edm.TicksPerSecond && d <= longestAfter
}

// formatDuration is the inverse of parseDuration. It does not use weeks.
func formatDuration(d edm.Ticks) string {
	b, time := []byte{'P'}, false
	for _, u := range units[1:] {
		n := d / u.length
		if d -= n * u.length; n == 0 {
			continue
		}
		if u.time && !time {
			b, time = append(b, 'T'), true
		}
		b = append(strconv.AppendInt(b, int64(n), 10), u.letter)
	}
	return string(b)
}
