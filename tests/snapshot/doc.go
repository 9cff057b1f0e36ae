// Package snapshot copies and prints values of any type, fields that are not exported, too. A model checker keeps the states
// of what it checks with it, and tells them apart. It also looks for secrets where nobody should find them. A field that is new in a type is copied and printed without a word.
package snapshot
