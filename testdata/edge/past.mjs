// Earlier states of objects, which the platform keeps and workerd does not: what the wrapper of tests gives an object in their
// place. States are kept in memory, each under the time at which a step of the object ended.
const pasts = new Map(); // by the name of the object

export class Past {
  states = [];
  next = null; // the state in which the object wakes up

  // of is the past of an object.
  static of(name) {
    if (!pasts.has(name)) pasts.set(name, new Past());
    return pasts.get(name);
  }

  keep(at, sql, there) { this.states.push([at, there ? [...sql.exec("SELECT k, v FROM r").raw()] : []]); }

  // storage has the functions of an object's storage for its past.
  get storage() {
    return {
      getCurrentBookmark: async () => String(this.states.length - 1),
      getBookmarkForTime: async (at) => String(this.states.findLastIndex(([kept]) => kept <= at)), // -1: it was not there
      onNextSessionRestoreBookmark: async (bookmark) => { this.next = this.states[Number(bookmark)]?.[1] ?? []; },
    };
  }

  // wake puts an object that wakes up back, if it is to be.
  wake(storage) {
    if (this.next === null) return;
    const rows = this.next;
    this.next = null;
    storage.transactionSync(() => {
      storage.sql.exec("CREATE TABLE IF NOT EXISTS r (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
      storage.sql.exec("DELETE FROM r");
      for (const [k, v] of rows) storage.sql.exec("INSERT INTO r VALUES (?, ?)", k, v);
    });
  }
}
