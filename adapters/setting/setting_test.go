package setting_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/setting"
)

func TestRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want setting.Rates
		ok   bool
	}{
		{"none", setting.Rates{}, true},
		{"azure", setting.Rates{Account: 20_000, Partition: 2_000}, true},
		{"account=100", setting.Rates{Account: 100}, true},
		{"partition=0.5, account=7", setting.Rates{Account: 7, Partition: 0.5}, true},
		{"", setting.Rates{}, false},
		{"Azure", setting.Rates{}, false},
		{"account", setting.Rates{}, false},
		{"account=7,", setting.Rates{}, false},
		{"account=-1", setting.Rates{}, false},
		{"account=NaN", setting.Rates{}, false},
		{"account=1e99", setting.Rates{}, false},
		{"table=5", setting.Rates{}, false},
	} {
		got, err := setting.ParseRates(tt.text)
		if (err == nil) != tt.ok || got != tt.want {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
		if again, err := setting.ParseRates(got.String()); err != nil || again != got {
			t.Errorf("%q is printed as %q: %+v, %v", tt.text, got, again, err)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	const most = 1 << 44
	for _, tt := range []struct {
		text string
		want int64 // expected size; -1 if the text must be refused
		show string
	}{
		{"128MiB", 128 << 20, "128MiB"}, {"20480KiB", 20 << 20, "20MiB"}, {"2 GiB", 2 << 30, "2GiB"}, {"16TiB", most, "16TiB"},
		{"1GB", 1e9, "1GB"}, {"1500MB", 15e8, "1500MB"}, {"0", 0, "0"}, {"0MiB", 0, "0"},
		{"512", -1, ""}, {"", -1, ""}, {"MiB", -1, ""}, {"-1MiB", -1, ""}, {"1.5GiB", -1, ""}, {"1mib", -1, ""},
		{"17TiB", -1, ""}, {"16777217TiB", -1, ""}, {"99999999999999999999KiB", -1, ""},
	} {
		got, err := setting.Size(tt.text, 0, most)
		if tt.want < 0 {
			if err == nil || !strings.Contains(err.Error(), "write a size with its unit, such as 512MiB or 2GiB, from 0 to 16TiB") {
				t.Errorf("%q: %d, %v", tt.text, got, err)
			}
			continue
		}
		if err != nil || got != tt.want || setting.ShowSize(got) != tt.show {
			t.Errorf("%q: %d, %v, shown as %s", tt.text, got, err, setting.ShowSize(got))
		}
	}
	for text, ok := range map[string]bool{"0": false, "1023KiB": false, "1MiB": true} {
		if _, err := setting.Size(text, 1<<20, most); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestReader reads each kind of setting: missing, present, at its bounds, and outside of them.
func TestReader(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"int": "8", "least": "1", "most": "256", "below": "0", "above": "257", "unit": "8MiB",
		"number": "2.5", "NaN": "NaN", "duration": "90s", "no unit": "90", "long": "2h",
		"days": "30d", "half": "1.5d", "mixed": "1d12h", "overflow": "213504d", "only d": "d",
		"true": "true", "false": "false", "yes": "yes", "rates": "account=5", "list": " a ,b c,, ", "blank": " ",
	}
	for _, tt := range []struct {
		read func(*setting.Reader) any
		want any
		say  string // part of the expected error; "" if there is none
	}{
		{func(r *setting.Reader) any { return r.Int("unset", 7, 1, 256) }, 7, ""},
		{func(r *setting.Reader) any { return r.Int("int", 7, 1, 256) }, 8, ""},
		{func(r *setting.Reader) any { return r.Int("least", 7, 1, 256) }, 1, ""},
		{func(r *setting.Reader) any { return r.Int("most", 7, 1, 256) }, 256, ""},
		{func(r *setting.Reader) any { return r.Int("below", 7, 1, 256) }, 7, `below="0": write a whole number from 1 to 256`},
		{func(r *setting.Reader) any { return r.Int("above", 7, 1, 256) }, 7, `above="257": write a whole number from 1 to 256`},
		{func(r *setting.Reader) any { return r.Int("unit", 7, 1, 256) }, 7, `unit="8MiB": write a whole number`},
		{func(r *setting.Reader) any { return r.Int("blank", 7, 1, 256) }, 7, `blank=" ": write a whole number`},
		{func(r *setting.Reader) any { return r.Number("number", 1, 0, 3) }, 2.5, ""},
		{func(r *setting.Reader) any { return r.Number("NaN", 1, 0, 3) }, 1.0, "write a number from 0 to 3"},
		{func(r *setting.Reader) any { return r.Duration("duration", 0, 0, time.Hour) }, 90 * time.Second, ""},
		{func(r *setting.Reader) any { return r.Duration("no unit", 0, 0, time.Hour) }, time.Duration(0), "write a duration with its unit"},
		{func(r *setting.Reader) any { return r.Duration("long", 0, 0, time.Hour) }, time.Duration(0), "from 0s to 1h0m0s"},
		{func(r *setting.Reader) any { return r.Duration("days", 0, 0, 1e6*time.Hour) }, 720 * time.Hour, ""},
		{func(r *setting.Reader) any { return r.Duration("half", 0, 0, 1e6*time.Hour) }, 36 * time.Hour, ""},
		{func(r *setting.Reader) any { return r.Duration("mixed", 0, 0, 1e6*time.Hour) }, time.Duration(0), "write a duration with its unit"},
		{func(r *setting.Reader) any { return r.Duration("overflow", 0, 0, 1e6*time.Hour) }, time.Duration(0), "write a duration with its unit"},
		{func(r *setting.Reader) any { return r.Duration("only d", 0, 0, 1e6*time.Hour) }, time.Duration(0), "write a duration with its unit"},
		{func(r *setting.Reader) any { return r.Bool("unset") }, false, ""},
		{func(r *setting.Reader) any { return r.Bool("true") }, true, ""},
		{func(r *setting.Reader) any { return r.Bool("false") }, false, ""},
		{func(r *setting.Reader) any { return r.Bool("yes") }, false, `yes="yes": write true or false`},
		{func(r *setting.Reader) any { return r.Rates("rates") }, setting.Rates{Account: 5}, ""},
		{func(r *setting.Reader) any { return r.Rates("int") }, setting.Rates{}, "account=20000"},
	} {
		r := setting.Reader{Lookup: func(name string) string { return values[name] }}
		got := tt.read(&r)
		if err := r.Err(); got != tt.want || (err == nil) != (tt.say == "") || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%v, %v; want %v, %q", got, err, tt.want, tt.say)
		}
	}
	r := setting.Reader{Lookup: func(name string) string { return values[name] }}
	if got := r.List("list"); !slices.Equal(got, []string{"a", "b c"}) {
		t.Errorf("list: %q", got)
	}
	if got := r.List("unset"); got != nil {
		t.Errorf("no list: %q", got)
	}
	r.Int("below", 7, 1, 256)
	r.Bool("yes")
	if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), "below=") {
		t.Errorf("the first mistake of two: %v", err)
	}
}
