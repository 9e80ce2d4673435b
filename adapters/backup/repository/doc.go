// Package repository keeps backups of a data directory in a place for objects: a
// directory or a bucket of S3.
//
//	format                the kind of place, its version, and the name of the store
//	objects/SUM-RUN       a part of a file; SUM is the SHA-256 of the object, RUN the backup that wrote it
//	backups/ID            the manifest of a complete backup
//	names/ID              the name of the backup, kept so that a lost manifest is noticed
//	unfinished/ID         the manifest so far of a backup that runs, or was interrupted
//
// # Steps
//
// [Repository.Create] writes unfinished/ID before it reads anything, then the objects
// that no backup has yet, then backups/ID, then names/ID, and last deletes unfinished/ID. So
// a backup that is listed is complete, and one with a name has a manifest. A run that was interrupted leaves unfinished/ID; the next
// run of the same data directory takes over its objects and deletes it.
//
// [Repository.Prune] deletes manifests, each after its name, then lists objects, then looks for unfinished
// backups, then reads all manifests, and last deletes the listed objects that no manifest
// names. It deletes no object while a backup is unfinished. This order needs no clock
// and no lock. Let an object be in the list, and let C be a run that wrote or reuses it:
//
//   - C wrote it: unfinished/C was there before the object, so Prune finds it, or C has
//     ended and backups/C is among the manifests.
//   - C reuses it from a manifest: C reads manifests after it wrote unfinished/C. If
//     Prune deleted the manifest before C read it, C does not reuse it. Otherwise
//     unfinished/C was there before Prune looked.
//
// Objects of two runs have different names even if they are equal, so Prune cannot
// delete what a new run has just written again.
//
// The place must show an object to everyone as soon as it is written. Directories and
// S3 do.
package repository
