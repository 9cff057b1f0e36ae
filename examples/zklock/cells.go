package main

import "github.com/mattn/go-runewidth"

// columns counts as most terminals do, whatever the locale says of characters that are wide in East Asian fonts only.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// cells is how many columns of a terminal a text takes.
func cells(text string) int { return columns.StringWidth(text) }

// cut shortens a text to so many columns, and shows that it did.
func cut(text string, width int) string {
	if width < 1 {
		return ""
	}
	return columns.Truncate(text, width, "…")
}
