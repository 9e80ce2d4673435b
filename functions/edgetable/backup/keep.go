package backup

import (
	"errors"
	"fmt"
	"strings"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/setting"
	"edgetable/functions/edgetable/cli"
)

var errKeep = errors.New("write last=NUMBER, daily=NUMBER, older-than=DURATION or point-in-time=DURATION, with commas between them")

func parseKeep(text string) (k repository.Retention, err error) {
	for rule := range strings.SplitSeq(text, ",") {
		name, n, _ := strings.Cut(strings.TrimSpace(rule), "=")
		switch name {
		case "last":
			k.Last, err = setting.Int(n, 0, 1<<20)
		case "daily":
			k.Daily, err = setting.Int(n, 0, 1<<20)
		case "older-than":
			k.OlderThan, err = setting.Duration(n, 0, 100*cli.MaxTime)
		case "point-in-time":
			k.PointInTime, err = setting.Duration(n, 0, 100*cli.MaxTime)
		default:
			err = errKeep
		}
		if err != nil {
			return k, errKeep
		}
	}
	if k.IsEmpty() {
		err = errKeep
	}
	return k, err
}

func showKeep(k repository.Retention) string {
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
