// Package repository keeps backups of a data directory in a backup location: a directory or a bucket of S3.
//
//	format                the kind of location, its version, and the name of the store
//	objects/SUM-RUN       a part of a file; SUM is the SHA-256 of the object, RUN the backup that wrote it
//	backups/ID            the manifest of a complete backup
//	names/ID              the name of the backup, kept so that a lost manifest is noticed
//	unfinished/ID         the incomplete manifest of a backup that is running, or was interrupted
//
// # Structure
//
// Package target manages the directory that a restore fills. Package encryption encrypts objects. Package seal verifies
// all objects that are not parts of files, by their first line. This package reads, writes and removes manifests and
// the log.
//
// # Steps
//
// [Repository.Create] first checks that the store was not replaced. It writes unfinished/ID before it looks for objects
// that it can reuse. Then it writes the objects that no backup has yet, then backups/ID, then names/ID. Finally it
// deletes unfinished/ID. So a listed backup is complete, and a backup with a name has a manifest. An interrupted run
// leaves unfinished/ID. The next run of the same data directory reuses the objects of that run and deletes
// unfinished/ID.
//
// [Repository.Prune] deletes the name and then the manifest of each backup to remove. Then it lists all objects, then
// looks for unfinished backups, and then reads all manifests. Finally it deletes the listed objects that no manifest
// names. It deletes no object while a backup is unfinished. This order needs no clock and no lock. Assume that Prune
// has listed an object, and that the run C wrote or reuses this object:
//
//   - If C wrote the object, unfinished/C existed before the object. So Prune finds unfinished/C, or C has
//     ended and Prune finds backups/C among the manifests.
//   - If C reuses the object, C found its name in a manifest, and C read that manifest after it wrote unfinished/C. If
//     Prune deleted the manifest before C could read it, C does not reuse the object. Otherwise
//     unfinished/C existed before Prune looked for unfinished backups.
//
// Objects of two runs have different names even if their contents are equal. So Prune cannot delete an object that a
// new run has just written again.
//
// The backup location must show an object to every reader as soon as the object is written. Directories and S3 do
// this.
package repository
