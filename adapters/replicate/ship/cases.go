package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
)

// standing is the result of comparing the store's history with the timelines (histories of commits) in the backup
// location.
type standing string

const (
	// A store with one of the following standings may ship its log to the backup location.
	continues standing = "the newest timeline (history of commits) in the backup location is the timeline of this store"
	announced standing = "this store has begun the newest timeline (history of commits), but did not receive the reply of the backup location"
	first     standing = "the backup location has no timeline (history of commits) yet"
	onTop     standing = "this store is a copy of the store with the newest timeline (history of commits), or has lost commits of this timeline: this store begins a new timeline"

	// A store with one of the following standings must not ship its log. Another store has replaced it, and has commits
	// that it lacks.
	replaced  standing = "another store has begun a newer timeline (history of commits) in the backup location"
	forgotten standing = "this store does not know its timeline (history of commits), but the backup location has a timeline of this store"

	// A store with one of the following standings must not ship its log, although no other store is known to have
	// replaced it.
	elsewhere standing = "the backup location has timelines (histories of commits), but none that this store knows"
	foreign   standing = "the backup location belongs to another store"
	emptied   standing = "the backup location is empty, but this store shipped its log or made backups there before"
)

// act is what a store does after it was compared with the backup location.
type act int

const (
	proceed       act = iota // ship the log as a part of the store's own timeline
	record                   // record the newest timeline in the store, and ship the log as a part of this timeline
	beginTimeline            // begin a timeline without a parent, and ship the log as a part of this timeline
	branch                   // begin a timeline that continues the newest timeline, and ship the log as a part of the new one
	yield                    // ship nothing: another store is the primary
	avoid                    // ship nothing: another store owns the backup location
	doubt                    // ship nothing: nothing shows whether this store is the primary
	await                    // ship nothing until the disk is mounted, or until a backup shows that the location was emptied on purpose
)

type joining struct {
	standing standing
	applies  func(*view) bool
	act      act
}

// cases lists the results of the comparison with the backup location, with an action for each. The first row whose
// condition holds is used.
var cases = [...]joining{
	{emptied, (*view).locationHadLog, await},        // for example, the disk is not mounted yet
	{first, (*view).locationIsEmpty, beginTimeline}, // this is the first start of a store with this location
	{foreign, (*view).newestIsOfAnother, avoid},     // for example, the name of the location was mistyped
	{continues, (*view).newestIsOwn, proceed},       // this is the case at every start after the first
	{announced, (*view).newestWasTried, record},     // the process was killed, or lost the reply, while it began the timeline
	{onTop, (*view).newestIsParent, branch},         // the store was restored, promoted without the location, or has lost commits
	{replaced, (*view).olderIsOwn, yield},           // another store was promoted while this store was the primary
	{replaced, (*view).olderIsParent, yield},        // another store was promoted, and this store had been restored or had lost commits
	{forgotten, (*view).storeKnowsNothing, yield},   // the file with the identity of the store's timeline is lost
	{elsewhere, (*view).always, doubt},              // another disk is mounted at the path of the location
}

// view contains the data that is compared before a store ships its log: the store's own record, and the timelines in
// the backup location.
type view struct {
	identity string
	own      commitlog.Timeline
	all      []repository.Timeline // the newest timeline is the last one in the list
	emptied  bool                  // whether the location has no timeline and no backup, although this store shipped its log or made backups there before
}

func (v *view) newest() *repository.Timeline { return &v.all[len(v.all)-1] }

func (v *view) has(id string) bool {
	return slices.ContainsFunc(v.all, func(t repository.Timeline) bool { return t.ID == id })
}

// parent returns the ID of the timeline that the store continues, or "" if the store has begun a timeline itself.
func (v *view) parent() string {
	if v.own.ID != "" {
		return ""
	}
	return v.own.Parent
}

func (v *view) locationHadLog() bool  { return v.emptied }
func (v *view) locationIsEmpty() bool { return len(v.all) == 0 }
func (v *view) newestIsOfAnother() bool {
	return v.newest().Store != "" && v.newest().Store != v.identity
}
func (v *view) newestIsOwn() bool       { return v.own.ID != "" && v.own.ID == v.newest().ID }
func (v *view) newestWasTried() bool    { return v.own.Next != "" && v.own.Next == v.newest().ID }
func (v *view) newestIsParent() bool    { return v.parent() != "" && v.parent() == v.newest().ID }
func (v *view) olderIsOwn() bool        { return v.own.ID != "" && v.has(v.own.ID) }
func (v *view) olderIsParent() bool     { return v.parent() != "" && v.has(v.parent()) }
func (v *view) storeKnowsNothing() bool { return v.own.ID == "" && v.own.Parent == "" }
func (v *view) always() bool            { return true }

// join returns the first row of the table cases whose condition holds.
func (v *view) join() joining {
	return cases[slices.IndexFunc(cases[:], func(c joining) bool { return c.applies(v) })] // the condition of the last row always holds
}

// refusal returns the reason why the store must not ship its log, or nil if there is none.
func (v *view) refusal() error {
	switch c := v.join(); c.act {
	case yield:
		newest := v.newest()
		return &repository.Replaced{Reason: fmt.Sprintf("%s (the newest --timeline ID is %s, begun by %s at %s)", c.standing, newest.ID, newest.From, newest.StartedAt.Format(time.RFC3339))}
	case avoid:
		return repository.ErrOtherStore
	case doubt:
		return repository.ErrElsewhere
	case await:
		return repository.ErrEmpty
	}
	return nil
}

// readView reads the store's own record and the timelines in the backup location.
func (s *Shipper) readView(ctx context.Context) (v view, err error) {
	if v.identity, err = s.Store.Identity(); err != nil {
		return v, err
	}
	v.all, err = s.Place.Timelines(ctx)
	v.own = s.Store.Timeline()
	if err != nil || len(v.all) > 0 || v.own.Location == "" || v.own.Location != s.Named {
		return v, err
	}
	list, err := s.Place.List(ctx)
	if errors.Is(err, repository.ErrNone) {
		v.emptied = true
		return v, nil
	}
	v.emptied = err == nil && len(list.Complete) == 0 // an unfinished backup does not count, because the command that makes the first backup may be running
	return v, err
}
