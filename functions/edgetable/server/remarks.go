package server

import (
	"log/slog"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/azurite"
)

// remark logs environment variables that no command reads, and variables that override the configuration file.
func (p *program) remark(log *slog.Logger) {
	for _, text := range p.Remarks {
		log.Info(text)
	}
	for _, u := range p.Unknown() {
		about := []any{"variable", u.Name}
		if u.Like != "" {
			about = append(about, "meant", u.Like)
		}
		log.Warn("no command reads this variable", about...)
	}
	if p.Environment(azurite.AccountsVariable) != "" && p.Announce == nil { // Azurite's variable is used only if the server was started as Azurite
		log.Warn("no command reads this variable", "variable", azurite.AccountsVariable, "meant", accounts.Variable)
	}
	for _, o := range p.Overridden() {
		log.Info("a variable overrides the file of --config", "flag", o.Flag, "variable", o.Variable, "value", o.Value, "file", o.Line)
	}
}
