package payload_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"edgetable/core/payload"
	"edgetable/core/traffic"
	"edgetable/testdata/must"
)

// TestReport checks that a report decodes to the same value as one written by encoding/json. The test sets every
// field of the report, so it fails if AppendReport lacks a new field.
func TestReport(t *testing.T) {
	t.Parallel()
	var full traffic.Report
	next := uint64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &next)
	for _, r := range []*traffic.Report{&full, traffic.NewMerger().Report()} {
		text := payload.AppendReport([]byte("x"), r)[1:]
		var got, want map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		standard, err := json.Marshal(r)
		must.OK(t, err)
		must.OK(t, json.Unmarshal(standard, &want))
		if r == &full {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", text, standard)
			}
		}
		var again traffic.Report
		must.OK(t, json.Unmarshal(text, &again))
		if !again.Since.Equal(r.Since) || len(again.Map.Starts) != len(r.Map.Starts) {
			t.Errorf("%s", text)
		}
	}
}

// fill sets every field of v, including nested ones, to a different value.
func fill(t *testing.T, v reflect.Value, next *uint64) {
	*next++
	switch v.Kind() {
	case reflect.String:
		v.SetString("\"é\x01\\😀" + string(rune('a'+*next)))
	case reflect.Int:
		v.SetInt(int64(*next))
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(*next)
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.125)
	case reflect.Array:
		for i := range v.Len() {
			if v.Index(i).Kind() != reflect.String {
				fill(t, v.Index(i), next)
				continue
			}
			v.Index(i).SetString(traffic.Metrics[i])
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i), next)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, name := range traffic.Metrics {
			one := reflect.New(v.Type().Elem()).Elem()
			fill(t, one, next)
			v.SetMapIndex(reflect.ValueOf(name), one)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 24, 12, 0, 0, int(*next)*100+1_234_000, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	default:
		t.Fatalf("%v in a report", v.Type())
	}
}
