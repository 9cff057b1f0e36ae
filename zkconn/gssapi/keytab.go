package gssapi

import (
	"errors"
	"slices"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/types"
)

// keys are the keys of a keytab.
type keys struct{ keytab *keytab.Keytab }

// readKeys reads a keytab. The library's error for a malformed keytab is not passed on: it quotes
// the bytes, which are keys.
func readKeys(path string) (*keys, error) {
	content, err := readFile(path, anybody)
	if err != nil {
		return nil, because(ErrNoCredentials, err, "keytab")
	}
	read := keytab.New()
	if parse(func() error { return read.Unmarshal(content) }) != nil || !complete(read) {
		return nil, failure(ErrNoCredentials, "keytab %s: malformed", path)
	}
	return &keys{read}, nil
}

// complete reports whether each entry was read as a whole: the library passes over missing ends.
func complete(read *keytab.Keytab) bool {
	for _, entry := range read.Entries {
		if len(entry.Key.KeyValue) == 0 || len(entry.Principal.Components) == 0 {
			return false
		}
	}
	return true
}

// of gives the entries of a principal, as indexes.
func (k *keys) of(who principal) (entries []int) {
	for i, entry := range k.keytab.Entries {
		if entry.Principal.Realm == who.realm && slices.Equal(entry.Principal.Components, who.name.NameString) {
			entries = append(entries, i)
		}
	}
	return entries
}

// types gives the encryption types of a principal's newest keys, ours first; others may be among them.
func (k *keys) types(who principal) []int32 {
	newest := uint32(0)
	for _, i := range k.of(who) {
		newest = max(newest, k.keytab.Entries[i].KVNO)
	}
	var all []int32
	for _, i := range k.of(who) {
		if entry := k.keytab.Entries[i]; entry.KVNO == newest {
			all = append(all, entry.Key.KeyType)
		}
	}
	ours := among(all)
	return append(ours, slices.DeleteFunc(all, func(enctype int32) bool { return slices.Contains(ours, enctype) })...)
}

// newest gives a principal's key of a type with the highest version. The library would take the key
// that was added last, by times that are rounded to the second.
func (k *keys) newest(who principal, enctype int32) (key types.EncryptionKey, version int) {
	for _, i := range k.of(who) {
		if entry := k.keytab.Entries[i]; entry.Key.KeyType == enctype && int(entry.KVNO) >= version {
			key, version = entry.Key, int(entry.KVNO)
		}
	}
	return key, version
}

// only gives the principal of the keys, if all are the same principal's.
func (k *keys) only() (principal, error) {
	var found []principal
	for _, entry := range k.keytab.Entries {
		p := principal{types.NewPrincipalName(entry.Principal.NameType, ""), entry.Principal.Realm}
		p.name.NameString = entry.Principal.Components
		if !slices.ContainsFunc(found, func(f principal) bool { return f.String() == p.String() }) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return principal{}, errors.New("it has keys of several principals, or of none: say which one is meant")
	}
	return found[0], nil
}
