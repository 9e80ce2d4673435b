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

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a JSON object in their order.
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
		one := member{name: name.(string)} // cannot fail: the decoder returns a string here
		if err := d.Decode(&one.value); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// TypeAnnotation is the end of the name of a member that contains the type of another member.
const TypeAnnotation = "@odata.type"

// azure matches the start of the output of 'az storage entity query'.
var azure = regexp.MustCompile(`^\s*\{\s*"(items|nextMarker)"`)

// dynamoItem matches the start of a line in a file that DynamoDB exported.
var dynamoItem = regexp.MustCompile(`^\s*\{\s*"Item"\s*:\s*\{`)

// conversion says how the JSON of a file becomes the JSON of entities.
type conversion struct {
	m      *Mapper
	azure  bool              // the document is output of the Azure CLI
	unseen map[string]string // names in --select and --rename that no row has had yet, and the flag that contains each of them
}

// convertForeign converts the JSON of another program to the JSON of an entity. The input can be a
// line of a DynamoDB export, or an object with values as the Azure CLI prints them. It also renames
// members by the mapping. Other texts are returned unchanged.
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

// entityOf builds the JSON of an entity from the members of an object. The parameter value is a
// function that returns the Edm type and the value of a member. The type is "" if the JSON of the
// value shows the type. If the function returns nil as the value, the entity gets no such member.
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
		quoted, _ := json.Marshal(name) // cannot fail: any string has a JSON form
		out = append(append(append(out, quoted...), ':'), v...)
	}
	for _, one := range list {
		if r.azure && (one.name == "etag" || one.name == "Etag") {
			continue
		}
		name := r.m.Renamed(one.name)
		if of, ok := strings.CutSuffix(one.name, TypeAnnotation); ok { // the type is renamed together with its property
			if of = r.m.Renamed(of); of == PartitionKey || of == RowKey {
				continue // a key is always a text
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

// azureValue reads a value that the Azure CLI printed. The CLI prints an Int64 together with its
// type, as an object or a list.
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

// dynamoValue reads an attribute of DynamoDB, such as {"N":"5"}.
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

// dynamoNumber returns a number with the smallest Edm type that holds the number exactly.
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
