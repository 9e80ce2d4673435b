package main

import (
	"bytes"
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/settings"
)

// isolate is the cache that one instance holds for the whole isolate: the layouts of tables and the settings of
// accounts.
type isolate struct {
	maps     *durableobject.Maps // layouts of tables, or nil until they are first used
	settings map[string][]byte   // for each account: the time of the read, one byte, and the stored settings
}

// A request about settings begins with settingsRecall or settingsKeep, and the account's name as a frame. settingsKeep
// adds a time and the settings. Other requests are about the layouts of tables.
const (
	settingsRecall = 0x80 + iota
	settingsKeep
)

// The cached entry of an account consists of the time, one of these bytes, and the settings.
const (
	settingsNone = iota
	settingsStored
	settingsChanged
)

const (
	maxSettings = 16 << 10 // maximum size of an account's settings in the cache
	maxAccounts = 256
)

func (i *isolate) answer(c *config, question []byte) []byte {
	if len(question) < 2 || question[0] < settingsRecall {
		if i.maps == nil {
			i.maps = durableobject.NewMaps(c.newTables())
		}
		return i.maps.Ask(question)
	}
	name, rest, ok := frames(question[1:]).next()
	known := i.settings[string(name)]
	switch {
	case !ok || len(rest) < 9 && question[0] != settingsRecall:
	case question[0] == settingsRecall:
		return known
	case len(known) > 0 && known[8] == settingsChanged && timeOf(rest) <= timeOf(known):
		// The settings were read before they were changed. Ignore them.
	default:
		if i.settings == nil || len(i.settings) >= maxAccounts {
			i.settings = make(map[string][]byte)
		}
		i.settings[string(name)] = bytes.Clone(rest)
	}
	return nil
}

func timeOf(b []byte) edm.Ticks { return edm.Ticks(binary.LittleEndian.Uint64(b)) }

// settingsOf sends requests about settings to the instance that keeps the isolate's cache.
type settingsOf func(question []byte) (answer []byte)

var _ settings.Memory = settingsOf(nil)

func (ask settingsOf) question(kind byte, account string) []byte {
	return append([]byte{kind}, frames(nil).addText(account)...)
}

// Recall implements [settings.Memory].
func (ask settingsOf) Recall(account string) (stored []byte, at edm.Ticks, ok bool) {
	b := ask(ask.question(settingsRecall, account))
	if len(b) < 9 || b[8] == settingsChanged {
		return nil, 0, false
	}
	if b[8] == settingsStored {
		stored = b[9:]
	}
	return stored, timeOf(b), true
}

// Keep implements [settings.Memory].
func (ask settingsOf) Keep(account string, stored []byte, at edm.Ticks) {
	q := binary.LittleEndian.AppendUint64(ask.question(settingsKeep, account), uint64(at))
	switch {
	case stored == nil:
		ask(append(q, settingsNone))
	case len(stored) <= maxSettings:
		ask(append(append(q, settingsStored), stored...))
	}
}

// Forget implements [settings.Memory].
func (ask settingsOf) Forget(account string, at edm.Ticks) {
	ask(append(binary.LittleEndian.AppendUint64(ask.question(settingsKeep, account), uint64(at)), settingsChanged))
}
