package board

import "strings"

// grow puts rows, which are in the order of a tree, under folders: a row for every node above two locks or more that
// is no lock itself. A folder with one thing in it is part of that thing's name.
func grow(rows []LockRow) (tree []LockRow) {
	return branch(nil, rows, "", 0)
}

// branch grows the rows below a path.
func branch(tree, rows []LockRow, above string, depth int) []LockRow {
	for len(rows) > 0 {
		first := rows[0]
		head, _, _ := strings.Cut(strings.TrimPrefix(first.Path, above+"/"), "/")
		at := above + "/" + head
		n := 1
		for n < len(rows) && strings.HasPrefix(rows[n].Path, at+"/") {
			n++
		}
		group := rows[:n]
		rows = rows[n:]
		switch {
		case first.Path == at: // a lock, and perhaps others below it
			first.Name, first.Depth = strings.TrimPrefix(at, above), depth
			tree = branch(append(tree, first), group[1:], at, depth+1)
		case n == 1:
			first.Name, first.Depth = strings.TrimPrefix(first.Path, above), depth
			tree = append(tree, first)
		default:
			at = commonFolder(group)
			tree = append(tree, LockRow{ID: "folder " + at, Path: at, Name: strings.TrimPrefix(at, above), Depth: depth, Folder: true})
			tree = branch(tree, group, at, depth+1)
		}
	}
	return tree
}

// commonFolder is the deepest node above all locks of a group, and not one of them.
func commonFolder(group []LockRow) string {
	first, last := group[0].Path, group[len(group)-1].Path
	at := 0
	for i := 0; i < len(first) && i < len(last) && first[i] == last[i]; i++ {
		if first[i] == '/' {
			at = i
		}
	}
	// The longer path may go on with a slash just where the shorter ends; the shorter is a lock then, and no folder.
	return first[:at]
}
