//go:build linux || darwin

package sessionfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

func record(id int64) sessionfile.Record {
	return sessionfile.Record{
		Session: id, Password: []byte("\x00 a secret \xff"), Timeout: 30 * time.Second, Connect: "h1:2181,[::1]:2182/app",
	}
}

func open(t *testing.T, path string) *sessionfile.File {
	t.Helper()
	f, err := sessionfile.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestSessionsAreFoundAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.Empty(t, f.Left())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	// Longer, shorter, the same again: what is found is always the newest.
	both := []sessionfile.Record{record(7), record(-8)} // the ids of servers above 127 are negative
	both[1].Reclaim = true
	for _, records := range [][]sessionfile.Record{both[:1], both, both[1:], both[1:], nil, both} {
		require.NoError(t, f.Write(records))
		require.NoError(t, f.Close())
		f = open(t, path)
		require.NoError(t, f.Unusable())
		require.Equal(t, records, f.Left())
	}
	require.NoError(t, f.Write(nil))
	require.Empty(t, content(t, path))
}

// A process that is killed between the two steps of a write leaves the rest of a longer content behind the newest.
func TestRestOfALongerContentIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{record(7), record(8)}))
	long := content(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{record(9)}))
	short := content(t, path)
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(path, []byte(short+long[len(short):]), 0o600))
	f = open(t, path)
	require.NoError(t, f.Unusable())
	require.Equal(t, []sessionfile.Record{record(9)}, f.Left())
	require.NoError(t, f.Write(nil))
	require.Empty(t, content(t, path))
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{record(7)}))
	_, err := sessionfile.Open(path)
	require.ErrorIs(t, err, sessionfile.ErrInUse)
	require.ErrorContains(t, err, path)

	// A child that lives on has not inherited the lock.
	child := exec.Command("sleep", "1000")
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "again")
	require.Equal(t, []sessionfile.Record{record(7)}, open(t, path).Left())
}

func TestForeignFilesAreRefused(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "own")
	require.NoError(t, open(t, own).Close())
	for rule, make := range map[string]func(path string) error{
		"mode 0640":                   func(path string) error { return write(path, "", 0o640) },
		"mode 0602":                   func(path string) error { return write(path, "", 0o602) },
		"mode 0604":                   func(path string) error { return write(path, "", 0o604) },
		"must not be a symbolic link": func(path string) error { return os.Symlink(own, path) },
		"a symbolic link":             func(path string) error { return os.Symlink(filepath.Join(folder, "nothing"), path) },
		"regular file":                func(path string) error { return os.Mkdir(path, 0o700) },
		"2 names": func(path string) error {
			if err := write(path+".other", "", 0o600); err != nil {
				return err
			}
			return os.Link(path+".other", path)
		},
		"something else": func(path string) error { return write(path, "my only copy\n", 0o600) },
		"owner 12345":    func(path string) error { return give(t, path, 12345) },
	} {
		t.Run(rule, func(t *testing.T) {
			path := filepath.Join(folder, strings.ReplaceAll(rule, " ", "-"))
			require.NoError(t, make(path))
			_, err := sessionfile.Open(path)
			require.ErrorIs(t, err, sessionfile.ErrRefused)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, rule)
		})
	}
	require.Equal(t, "my only copy\n", content(t, filepath.Join(folder, "something-else")))
	require.NoFileExists(t, filepath.Join(folder, "nothing"), "nothing is made through a link")
}

func write(path, text string, mode os.FileMode) error {
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // under any umask
}

// give makes a file of another user's, which takes root.
func give(t *testing.T, path string, user int) error {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := write(path, "", 0o600); err != nil {
		return err
	}
	return os.Chown(path, user, -1)
}

func TestFoldersAreNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nowhere", "session")
	_, err := sessionfile.Open(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, path)
}

// A file from a host that lost power, or from a later version, is read as empty, told as unusable and written over.
func TestDamagedContentIsToldAndWrittenOver(t *testing.T) {
	const heading = "turnstile session file, version 1\n"
	good := sample(t)
	session := strings.TrimPrefix(good, heading)
	require.Less(t, len(session), len(good))
	for _, text := range []string{
		"\x00\x00\x00\x00", heading, heading[:len(heading)-1], "turnstile session file, version 22\nanything",
		heading + session[:len(session)-3], heading + strings.Replace(session, "0x7", "seven", 1),
		heading + strings.Replace(session, "0x7", "0", 1), heading + strings.Replace(session, "AAAA", "", 1),
		heading + strings.Replace(session, "AAAA", "*", 1), heading + strings.Replace(session, `"h"`, `""`, 1),
		heading + strings.Replace(session, ":1,", ":-1,", 1), heading + strings.Replace(session, ":1,", ":1e99,", 1),
		heading + strings.Replace(session, ":1,", ":3000000000,", 1),
		heading + "\x00" + session, heading + strings.Repeat("[", 9000),
	} {
		path := filepath.Join(t.TempDir(), "session")
		require.NoError(t, write(path, text, 0o600))
		require.NotEqual(t, good, text)
		f := open(t, path)
		require.Error(t, f.Unusable(), "%q", text)
		require.ErrorContains(t, f.Unusable(), path)
		require.Empty(t, f.Left(), "%q", text)
		require.NoError(t, f.Write(nil))
		require.Empty(t, content(t, path))
		require.NoError(t, f.Write([]sessionfile.Record{record(7)}))
		require.NoError(t, f.Close())
		require.Equal(t, []sessionfile.Record{record(7)}, open(t, path).Left())
	}
}

// sample is the content of a file with one session.
func sample(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session")
	f, err := sessionfile.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	one := sessionfile.Record{Session: 7, Password: make([]byte, 3), Timeout: time.Millisecond, Connect: "h"}
	require.NoError(t, f.Write([]sessionfile.Record{one}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// A record of another run of a kernel proves nothing about its writer, which may live.
func TestWhatAnotherHostWroteIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	text := sample(t)
	at := strings.Index(text, `"boot":"`) + len(`"boot":"`)
	require.NotEqual(t, "x", text[at:at+1])
	for _, other := range []string{text[:at] + "x" + text[at+1:], text[:at] + text[strings.Index(text[at:], `"`)+at:]} {
		require.NoError(t, write(path, other, 0o600))
		f := open(t, path)
		require.ErrorContains(t, f.Unusable(), "another host")
		require.Empty(t, f.Left())
		require.NoError(t, f.Close())
	}
	require.NoError(t, write(path, text, 0o600))
	f := open(t, path)
	require.NoError(t, f.Unusable())
	require.Len(t, f.Left(), 1)
}

func TestTooMuchIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	f := open(t, path)
	require.NoError(t, f.Write([]sessionfile.Record{record(7)}))
	long := record(8)
	long.Connect = strings.Repeat("h,", 40_000)
	require.ErrorContains(t, f.Write([]sessionfile.Record{long}), path)
	require.NoError(t, f.Close())
	require.Equal(t, []sessionfile.Record{record(7)}, open(t, path).Left())
	require.Error(t, f.Write([]sessionfile.Record{record(9)}), "closed")
}

func TestPasswordIsNotPrinted(t *testing.T) {
	r := record(7)
	r.Password = []byte("secret")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(verb, r)
		require.NotContains(t, text, "secret")
		require.NotContains(t, text, fmt.Sprint(r.Password))
		require.Contains(t, text, "0x7")
	}
}

func FuzzContent(f *testing.F) {
	f.Add([]byte(sample(f)))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "session")
		if err := write(path, string(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := sessionfile.Open(path)
		if err != nil {
			if got := content(t, path); got != string(text) {
				t.Fatalf("refused, and written to: %q", got)
			}
			return
		}
		defer func() { _ = file.Close() }()
		for _, r := range file.Left() {
			if r.Session == 0 || len(r.Password) == 0 || r.Timeout <= 0 || r.Connect == "" {
				t.Fatalf("not a whole session: %v", r)
			}
		}
	})
}
