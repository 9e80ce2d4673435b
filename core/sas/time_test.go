package sas_test

import (
	"testing"

	"edgetable/core/sas"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, s, want string }{ // want is "" if ParseTime must fail
		{"a date", "2030-01-02", "2030-01-02T00:00:00.0000000Z"},
		{"to the minute", "2030-01-02T03:04Z", "2030-01-02T03:04:00.0000000Z"},
		{"to the second", "2030-01-02T03:04:05Z", "2030-01-02T03:04:05.0000000Z"},
		{"one digit", "2030-01-02T03:04:05.6Z", "2030-01-02T03:04:05.6000000Z"},
		{"seven digits", "2030-01-02T03:04:05.1234567Z", "2030-01-02T03:04:05.1234567Z"},
		{"a zone", "2030-01-02T03:04:05+02:30", "2030-01-02T00:34:05.0000000Z"},
		{"a zone to the minute", "2030-01-02T23:04-01:00", "2030-01-03T00:04:00.0000000Z"},
		{"a zone after a fraction", "2030-01-02T03:04:05.5-00:00", "2030-01-02T03:04:05.5000000Z"},
		{"the first", "1601-01-01T00:00:00Z", "1601-01-01T00:00:00.0000000Z"},
		{"the last", "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"},
		{"a leap day", "2028-02-29", "2028-02-29T00:00:00.0000000Z"},

		{"nothing", "", ""},
		{"no leap day", "2030-02-29", ""},
		{"no zone", "2030-01-02T03:04:05", ""},
		{"no zone to the minute", "2030-01-02T03:04", ""},
		{"eight digits", "2030-01-02T03:04:05.12345678Z", ""},
		{"eight digits and a zone", "2030-01-02T03:04:05.12345678+00:00", ""},
		{"no digit", "2030-01-02T03:04:05.Z", ""},
		{"a date with a zone", "2030-01-02Z", ""},
		{"a date with an offset", "2030-01-02+00:00", ""},
		{"a zone for the minutes", "2030-01-02+03:04:05", ""},
		{"another sign", "2030-01-02T03:04:05*00:00", ""},
		{"a fraction without a zone", "2030-01-02T03:04:05.123", ""},
		{"hours alone", "2030-01-02T03Z", ""},
		{"small letters", "2030-01-02t03:04:05z", ""},
		{"a blank for the T", "2030-01-02 03:04:05Z", ""},
		{"an offset without colon", "2030-01-02T03:04:05+0000", ""},
		{"second 60", "2030-01-02T03:04:60Z", ""},
		{"before the first", "1600-12-31T23:59:59Z", ""},
		{"before the first, by its zone", "1601-01-01T00:00:00+00:01", ""},
		{"after the last, by its zone", "9999-12-31T23:59:59-00:01", ""},
		{"blanks", " 2030-01-02", ""},
		{"a year of five digits", "12030-01-02", ""},
		{"HTTP's form", "Mon, 27 Jun 2016 15:25:14 GMT", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ticks, err := sas.ParseTime(tt.s)
			if err != nil {
				if tt.want != "" || ticks != 0 {
					t.Error(ticks, err)
				}
				return
			}
			if got := string(sas.AppendTime(nil, ticks)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
