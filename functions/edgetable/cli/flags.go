package cli

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/setting"
)

// value implements pflag.Value with a parse function.
type value[T any] struct {
	to    *T
	kind  string
	parse func(string) (T, error)
	show  func(T) string
}

func (v *value[T]) Set(text string) (err error) {
	t, err := v.parse(text)
	if err == nil {
		*v.to = t
	}
	return err
}

func (v *value[T]) String() string {
	if v.to == nil { // pflag also calls String on the zero value
		return ""
	}
	return v.show(*v.to)
}

func (v *value[T]) Type() string { return v.kind }

// ValueFlag adds a flag with a custom type.
func ValueFlag[T any](f *pflag.FlagSet, to *T, name, kind, usage string, parse func(string) (T, error), show func(T) string) {
	f.Var(&value[T]{to, kind, parse, show}, name, usage)
}

func IntFlag(f *pflag.FlagSet, to *int, name string, usual, least, most int, usage string) {
	*to = usual
	f.Var(&value[int]{to, "number", func(s string) (int, error) { return setting.Int(s, least, most) }, strconv.Itoa}, name, usage)
}

func DurationFlag(f *pflag.FlagSet, to *time.Duration, name string, usual, least, most time.Duration, usage string) {
	*to = usual
	f.Var(&value[time.Duration]{to, "duration", func(s string) (time.Duration, error) { return setting.Duration(s, least, most) }, ShowDuration}, name, usage)
}

func SizeFlag(f *pflag.FlagSet, to *int64, name string, usual, least, most int64, usage string) {
	*to = usual
	f.Var(&value[int64]{to, "size", func(s string) (int64, error) { return setting.Size(s, least, most) }, setting.ShowSize}, name, usage)
}

func BoolFlag(f *pflag.FlagSet, to *bool, name, usage string) {
	f.VarPF(&value[bool]{to, "bool", setting.Bool, strconv.FormatBool}, name, "", usage).NoOptDefVal = "true"
}

// ChoiceFlag adds a flag whose value must be one of the given words. The first word is the default.
func ChoiceFlag(f *pflag.FlagSet, to *string, name, usage string, words ...string) {
	*to = words[0]
	f.Var(&value[string]{to, "word", func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("write " + OneOf(words))
		}
		return s, nil
	}, func(s string) string { return s }}, name, usage)
	f.Lookup(name).Annotations = map[string][]string{wordsKey: words}
}

// OneOf formats a list as "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func LevelFlag(f *pflag.FlagSet, to *slog.Level, name, usage string) {
	f.Var(&value[slog.Level]{to, "level", parseLevel, func(l slog.Level) string { return strings.ToLower(l.String()) }}, name, usage)
	f.Lookup(name).Annotations = map[string][]string{wordsKey: {"debug", "info", "warn", "error"}}
}

func parseLevel(s string) (l slog.Level, err error) {
	if l.UnmarshalText([]byte(s)) != nil {
		err = errors.New("write debug, info, warn or error")
	}
	return l, err
}

const (
	headingKey = "heading" // heading of the flag in the help
	wordsKey   = "words"   // values of the flag for completion
	commonKey  = "common"  // set for flags that the short help shows
)

// ShowDuration formats a duration without zero minutes and seconds, for example 15m or 5h.
func ShowDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
