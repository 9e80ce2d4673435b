// Earlier states of objects, which the platform keeps and workerd does not. The tests' wrapper gives them to an object. They
// are kept in memory, each with the time at which a step of the object ended.
const pasts = new Map(); // by the name of an object

export class Past {
  states = [];
  next = null; // the state to which the object returns when it wakes up

  // of returns the past of an object.
  static of(name) {
    if (!pasts.has(name)) pasts.set(name, new Past());
    return pasts.get(name);
  }

  keep(at, sql, there) { this.states.push([at, there ? [...sql.exec("SELECT k, v FROM r").raw()] : []]); }

  // storage returns the functions of an object's storage that access its past.
  get storage() {
    return {
      getCurrentBookmark: async () => String(this.states.length - 1),
      getBookmarkForTime: async (at) => String(this.states.findLastIndex(([kept]) => kept <= at)), // -1: the object did not exist
      onNextSessionRestoreBookmark: async (bookmark) => { this.next = this.states[Number(bookmark)]?.[1] ?? []; },
    };
  }

  // wake returns an object that wakes up to an earlier state, if one was requested.
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
