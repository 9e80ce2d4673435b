package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a JSON object, in order.
func members(text []byte) (list []member, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		one := member{name: name.(string)} // the Decoder returns a string here
		if err := d.Decode(&one.value); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// TypeAnnotation is the suffix of a member that contains the type of another member.
const TypeAnnotation = "@odata.type"

// azure matches the start of the output of "az storage entity query".
var azure = regexp.MustCompile(`^\s*\{\s*"(items|nextMarker)"`)

// dynamoItem matches the start of a line of a DynamoDB export.
var dynamoItem = regexp.MustCompile(`^\s*\{\s*"Item"\s*:\s*\{`)

type conversion struct {
	m      *Mapper
	azure  bool              // true if the file is output of the Azure CLI
	unseen map[string]string // names in --select and --rename that have not occurred in a row yet, each with its flag
}

// convertForeign converts a line of a DynamoDB export, or an object printed by the Azure CLI, to the JSON of an entity,
// and renames members. It returns other texts unchanged.
func (r *conversion) convertForeign(text []byte) ([]byte, error) {
	switch {
	case dynamoItem.Match(text):
		whole, err := members(text)
		if err != nil {
			return nil, err
		}
		return r.entityOf(whole[0].value, dynamoValue)
	case r.azure:
		return r.entityOf(text, azureValue)
	case r.m.Rename != nil:
		return r.entityOf(text, func(v json.RawMessage) (string, json.RawMessage, error) { return "", v, nil })
	}
	return text, nil
}

// entityOf builds the JSON of an entity from the members of an object. The callback must return the Edm type and the
// value of a member. The type is "" if the JSON determines it. The value is nil if the member must be omitted.
func (r *conversion) entityOf(text []byte, value func(json.RawMessage) (string, json.RawMessage, error)) ([]byte, error) {
	list, err := members(text)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	add := func(name string, v json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, _ := json.Marshal(name) // encoding a string cannot fail
		out = append(append(append(out, quoted...), ':'), v...)
	}
	for _, one := range list {
		if r.azure && (one.name == "etag" || one.name == "Etag") {
			continue
		}
		name := r.m.Renamed(one.name)
		if of, ok := strings.CutSuffix(one.name, TypeAnnotation); ok { // rename the type along with its property
			if of = r.m.Renamed(of); of == PartitionKey || of == RowKey {
				continue // keys are always strings
			}
			name = of + TypeAnnotation
		}
		if r.unseen[one.name] == "--rename" {
			delete(r.unseen, one.name)
		}
		if r.m.Select != nil && !r.m.Property(name) && !strings.Contains(name, "@odata.") && !r.m.needs(name) {
			continue
		}
		typ, v, err := value(one.value)
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		if v == nil {
			continue
		}
		if typ != "" {
			add(name+TypeAnnotation, json.RawMessage(strconv.Quote(typ)))
		}
		add(name, v)
	}
	return append(out, '}'), nil
}

// azureValue reads a value printed by the Azure CLI, which prints an Int64 as an object or a list with the value and
// the type.
func azureValue(raw json.RawMessage) (string, json.RawMessage, error) {
	var typed struct {
		Value json.RawMessage `json:"value"`
		Edm   string          `json:"edm_type"`
		Type  string          `json:"type"`
	}
	switch raw[0] {
	default:
		return "", raw, nil
	case '{':
		if err := json.Unmarshal(raw, &typed); err != nil {
			return "", nil, err
		}
		if typed.Edm != "" {
			typed.Type = typed.Edm
		}
	case '[':
		var pair []json.RawMessage
		if err := json.Unmarshal(raw, &pair); err != nil {
			return "", nil, err
		}
		if len(pair) == 2 && json.Unmarshal(pair[1], &typed.Type) == nil {
			typed.Value = pair[0]
		}
	}
	t, ok := ParseType(typed.Type[strings.LastIndexByte(typed.Type, '.')+1:])
	if !ok || typed.Value == nil {
		return "", nil, fmt.Errorf("is an object without a value and an Edm type: %s", Cut(string(raw)))
	}
	if c := typed.Value[0]; c != '"' && t == edm.TypeInt64 {
		typed.Value = json.RawMessage(`"` + string(typed.Value) + `"`)
	}
	return t.String(), typed.Value, nil
}

// dynamoValue reads a DynamoDB attribute such as {"N":"5"}.
func dynamoValue(raw json.RawMessage) (string, json.RawMessage, error) {
	list, err := members(raw)
	if err != nil || len(list) != 1 {
		return "", nil, fmt.Errorf("is not an attribute of DynamoDB: %s", Cut(string(raw)))
	}
	v := list[0].value
	switch list[0].name {
	case "S", "BOOL":
		return "", v, nil
	case "NULL":
		return "", nil, nil
	case "B":
		return edm.TypeBinary.String(), v, nil
	case "N":
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return "", nil, err
		}
		return dynamoNumber(text)
	}
	return "", nil, fmt.Errorf("is a list, a map or a set of DynamoDB (%s), which a property cannot hold; --select chooses properties", list[0].name)
}

// dynamoNumber returns a number as the first type of Int32, Int64 and Double that represents it exactly.
func dynamoNumber(text string) (string, json.RawMessage, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return "", json.RawMessage(strconv.FormatInt(n, 10)), nil
		}
		return edm.TypeInt64.String(), json.RawMessage(strconv.Quote(text)), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(strings.SplitN(strings.ToLower(text), "e", 2)[0]), "0")) > 17 {
		return "", nil, fmt.Errorf("is a number that no type can represent exactly: %s", Cut(text))
	}
	return edm.TypeDouble.String(), json.RawMessage(strconv.Quote(strconv.FormatFloat(f, 'g', -1, 64))), nil
}
