package backup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/setting"
	"edgetable/functions/edgetable/cli"
)

var errKeep = errors.New("write last=NUMBER, daily=NUMBER, older-than=DURATION or point-in-time=DURATION, with commas between them")

func parseKeep(text string) (k repository.Keep, err error) {
	for rule := range strings.SplitSeq(text, ",") {
		name, n, _ := strings.Cut(strings.TrimSpace(rule), "=")
		count, countErr := strconv.ParseUint(n, 10, 20)
		switch {
		case name == "last" && countErr == nil:
			k.Last = int(count)
		case name == "daily" && countErr == nil:
			k.Daily = int(count)
		case name == "older-than":
			if k.OlderThan, err = setting.Duration(n, 0, 100*cli.MaxTime); err != nil {
				return k, errKeep
			}
		case name == "point-in-time":
			if k.PointInTime, err = setting.Duration(n, 0, 100*cli.MaxTime); err != nil {
				return k, errKeep
			}
		default:
			return k, errKeep
		}
	}
	if k.None() {
		return k, errKeep
	}
	return k, nil
}

func showKeep(k repository.Keep) string {
	var rules []string
	if k.Last > 0 {
		rules = append(rules, fmt.Sprint("last=", k.Last))
	}
	if k.Daily > 0 {
		rules = append(rules, fmt.Sprint("daily=", k.Daily))
	}
	if k.OlderThan > 0 {
		rules = append(rules, "older-than="+cli.ShowDuration(k.OlderThan))
	}
	if k.PointInTime > 0 {
		rules = append(rules, "point-in-time="+cli.ShowDuration(k.PointInTime))
	}
	return strings.Join(rules, ",")
}
