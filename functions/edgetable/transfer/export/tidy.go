package export

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"edgetable/core/objects"
)

// filePattern matches the file names of exported tables, which contain the number of the export and the rank of a
// range.
var filePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*/part-\d{4,}-\d+(-\d{6,})?\.(jsonl|csv|parquet)(\.gz|\.zst)?$`)

// isExportObject reports whether an object belongs to an export. This includes incomplete objects of a killed export.
func isExportObject(o objects.Object) bool {
	name, torn := strings.CutSuffix(o.Name, objects.TempSuffix)
	if torn {
		name = name[:max(strings.LastIndexByte(name, '.'), 0)] // strip the random suffix of the temporary name
	}
	return strings.HasPrefix(name, unfinishedPrefix) || filePattern.MatchString(name) || torn && name == ManifestName
}

// tidy removes the record of the unfinished export, and all objects of exports except the files in m.
func (x *exporting) tidy(ctx context.Context, m *Manifest) (err error) {
	needed := map[string]bool{}
	if m != nil {
		for _, t := range m.Tables {
			for _, p := range t.Files {
				needed[p.File] = true
			}
		}
	}
	if err := x.place.Delete(ctx, begunName); err != nil { // delete the record first, so that no later run resumes an export that lacks objects
		return err
	}
	var useless []objects.Object
	for object, failed := range x.place.List(ctx, "") {
		if failed != nil {
			return failed
		}
		if isExportObject(object) && !needed[object.Name] {
			useless = append(useless, object)
		}
	}
	for _, object := range useless {
		err = errors.Join(err, x.place.Delete(ctx, object.Name))
	}
	return err
}
