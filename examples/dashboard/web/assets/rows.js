// A list of rows that is kept as the server says, row by row: a row that is still there keeps its element, and with
// it the focus, what is selected in it, and the place to which one has scrolled.

export class Rows {
  // build makes a row's element; update writes a row into it.
  constructor(parent, build, update) {
    this.parent = parent;
    this.build = build;
    this.update = update;
    this.elements = new Map();
    this.ids = [];
  }

  // apply takes what has changed. At the beginning of a stream that is everything.
  apply(change, beginning) {
    if (!change) {
      if (!beginning) return;
      change = { order: [] };
    }
    for (const row of change.set ?? []) {
      const id = String(row.id);
      let element = this.elements.get(id);
      if (!element) {
        element = this.build(row);
        this.elements.set(id, element);
      }
      this.update(element, row);
    }
    for (const id of change.gone ?? []) this.remove(String(id));
    if (beginning) {
      const kept = new Set(change.order ?? []);
      for (const id of [...this.elements.keys()]) if (!kept.has(id)) this.remove(id);
    }
    if (change.order || beginning) this.arrange(change.order ?? []);
    if (change.positions) this.positions = change.positions;
  }

  remove(id) {
    this.elements.get(id)?.remove();
    this.elements.delete(id);
  }

  // arrange puts the rows in order, and moves only those that are out of it.
  arrange(ids) {
    this.ids = ids;
    const focused = document.activeElement;
    let next = this.parent.firstElementChild;
    for (const id of ids) {
      const element = this.elements.get(id);
      if (!element) continue;
      if (element === next) next = next.nextElementSibling;
      else this.parent.insertBefore(element, next);
    }
    if (focused && focused !== document.activeElement && this.parent.contains(focused)) focused.focus({ preventScroll: true });
  }

  get size() {
    return this.elements.size;
  }
}
