package rows

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// keyTemplate builds a key from the values of a row.
type keyTemplate struct {
	column string // column whose value is the key; "" if the key consists of parts
	parts  []keyPart
}

// keyPart is a constant or a placeholder {name} or {name:form}.
type keyPart struct {
	text  string
	name  string // name of a column, or "row", "uuid" or "file"; "" for a constant
	width int    // minimum number of digits
	date  string // time.Format layout for a DateTime
	bare  bool   // true if the placeholder is a date format without a column name, which formats the Timestamp
}

type origin struct {
	file *File
	row  int64
}

// parseKey parses the value of --partition-key or --row-key:
//
//	Country             the column Country, which does not become a property
//	=orders             the constant orders
//	{Country}-{Id:8}    a template: columns, and numbers of at least 8 digits
//	{Born:yyyy-MM}      a DateTime in this format; {yyyy-MM} formats the Timestamp
//	{row} {uuid} {file} the number of the row, a UUID, the name of the file
//
// A brace in the key is written twice.
func parseKey(text string) (*keyTemplate, error) {
	if text == "" {
		return nil, nil
	}
	if constant, ok := strings.CutPrefix(text, "="); ok {
		return &keyTemplate{parts: []keyPart{{text: constant}}}, nil
	}
	if !strings.ContainsAny(text, "{}") {
		return &keyTemplate{column: text}, nil
	}
	k := &keyTemplate{}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			k.parts = append(k.parts, keyPart{text: text})
			break
		}
		if strings.HasPrefix(text[i+1:], text[i:i+1]) {
			k.parts = append(k.parts, keyPart{text: text[:i+1]})
			text = text[i+2:]
			continue
		}
		if text[i] == '}' {
			return nil, errors.New("a } without {: write }} for a brace")
		}
		if i > 0 {
			k.parts = append(k.parts, keyPart{text: text[:i]})
		}
		inner, rest, ok := strings.Cut(text[i+1:], "}")
		if !ok {
			return nil, errors.New("a { without }: write {{ for a brace")
		}
		part, err := parsePart(inner)
		if err != nil {
			return nil, err
		}
		k.parts, text = append(k.parts, part), rest
	}
	return k, nil
}

func parsePart(inner string) (p keyPart, err error) {
	name, form, _ := strings.Cut(inner, ":")
	p.name = name
	switch {
	case name == "":
		return p, fmt.Errorf("{%s} names no column", inner)
	case strings.HasPrefix(name, "yyyy") && strings.Trim(name, "yMdHms-._") == "":
		p.name, p.bare, form = Timestamp, true, inner
	case name == "row" && form == "":
		p.width = 10
	}
	if form == "" {
		return p, nil
	}
	if width, err := strconv.Atoi(form); err == nil {
		if width < 1 || width > 40 {
			return p, fmt.Errorf("{%s}: a number has 1 to 40 digits", inner)
		}
		p.width = width
		return p, nil
	}
	if p.date, err = dateForm(form); err != nil {
		return p, fmt.Errorf("{%s}: %w", inner, err)
	}
	return p, nil
}

// dateForms are pairs of a date format element and its time.Format layout.
var dateForms = []string{"yyyy", "2006", "MM", "01", "dd", "02", "HH", "15", "mm", "04", "ss", "05"}

func dateForm(form string) (string, error) {
	if strings.ContainsAny(form, "0123456789") {
		return "", errors.New("give a number of digits, or a date such as yyyyMMdd")
	}
	rest := strings.NewReplacer("yyyy", "", "MM", "", "dd", "", "HH", "", "mm", "", "ss", "").Replace(form)
	if strings.IndexFunc(rest, func(r rune) bool { return r != '-' && r != '.' && r != '_' && r != ':' && r != 'T' && r != 'Z' }) >= 0 {
		return "", errors.New("a date may contain only yyyy, MM, dd, HH, mm, ss and - . _ : T Z")
	}
	return strings.NewReplacer(dateForms...).Replace(form), nil
}

func (k *keyTemplate) renames(column string) bool { return k != nil && k.column == column }

func (k *keyTemplate) columns() (list []string) {
	if k.column != "" {
		return []string{k.column}
	}
	for _, p := range k.parts {
		if p.name != "" && p.name != "row" && p.name != "uuid" && p.name != "file" {
			list = append(list, p.name)
		}
	}
	return list
}

func (k *keyTemplate) make(from origin, c Cells) (string, error) {
	if k.column != "" {
		v, err := has(c, k.column)
		return v.String(), err
	}
	var b strings.Builder
	for _, p := range k.parts {
		text, err := p.make(from, c)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func has(c Cells, column string) (edm.Value, error) {
	v, err := c.Cell(column)
	if err == nil && v.Type() == edm.TypeNull {
		err = fmt.Errorf("there is no %s", column)
	}
	return v, err
}

func (p *keyPart) make(from origin, c Cells) (string, error) {
	switch p.name {
	case "":
		return p.text, nil
	case "row":
		return padNumber(strconv.FormatInt(from.row, 10), p.width), nil
	case "uuid":
		return from.uuid(), nil
	case "file":
		name, _, _ := strings.Cut(filepath.Base(from.file.Path), ".")
		return name, nil
	}
	v, err := has(c, p.name)
	switch {
	case err != nil && p.bare:
		return "", fmt.Errorf("%w (for the date of another column, write its name: {Born:yyyyMM})", err)
	case err != nil:
		return "", err
	case p.date != "":
		if v.Type() != edm.TypeDateTime {
			text := v.String()
			if v, err = edm.Parse(edm.TypeDateTime, text); err != nil {
				return "", fmt.Errorf("%s is %w: %q", p.name, err, text)
			}
		}
		return v.Ticks().Time().Format(p.date), nil
	}
	if text := v.String(); p.width > 0 && strings.HasPrefix(text, "-") && strings.Trim(text[1:], "0123456789") == "" {
		return "", fmt.Errorf("%s is negative: keys of padded negative numbers would not sort like the numbers: %s", p.name, text)
	}
	return padNumber(v.String(), p.width), nil
}

// padNumber adds leading zeros to a number, so that numbers sort as strings in numeric order.
func padNumber(text string, width int) string {
	if strings.Trim(text, "0123456789") == "" && len(text) < width {
		return strings.Repeat("0", width-len(text)) + text
	}
	return text
}

// uuid returns a UUID that depends only on the row and its file. A repeated import therefore writes the same entities
// and creates no duplicates.
func (o origin) uuid() string {
	f := o.file
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%d\n%d", f.Path, f.Size, f.Time, f.Seed, o.row))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // UUID version 8, for custom formats
	return edm.Guid([16]byte(sum[:16])).String()
}
