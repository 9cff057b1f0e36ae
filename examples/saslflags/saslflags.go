// Package saslflags reads --sasl for zklock and the dashboard: the mechanism, and its settings.
// Settings come from a file that nobody else can read, or from the environment. They never come
// from the command line, which everybody on the machine can read. Those that are no secrets, a path
// and a name, may be typed.
//
// A file has a line for each setting, name=value, like
//
//	user=app
//	password=correct horse battery staple
//
// or, for Kerberos (kerberosSettings has all of them),
//
//	keytab=/etc/app.keytab
//	principal=app/host@EXAMPLE.COM
//
// The value is everything behind the equals sign. Empty lines, and lines that begin with #, are
// passed over. In the environment the same are called PREFIX_USER and PREFIX_PASSWORD, where PREFIX
// is the program's; what the file says counts.
//
// [Credential] reads --auth from a file likewise.
package saslflags

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// mechanism is a mechanism that --sasl can name.
type mechanism struct {
	settings []string // the names of its settings
	make     func(get func(name string) string) (zkconn.SASLMechanism, error)
}

// Source says where a mechanism and its settings come from.
type Source struct {
	Name   string              // of the mechanism, as typed; where it is empty, the variable PREFIX has it
	File   string              // with settings; where it is empty, the variable PREFIX_FILE has it
	Typed  map[string]string   // settings that are no secrets; they override the file's
	Prefix string              // of the variables, such as ZKLOCK_SASL
	Env    func(string) string // os.Getenv
}

// Names lists the mechanisms, in words.
func Names() string { return strings.Join(slices.Sorted(maps.Keys(mechanisms)), " or ") }

// Mechanism gives the mechanism; nil where none is asked for. Errors say what is wrong, and show no setting.
func (s Source) Mechanism() (zkconn.SASLMechanism, error) {
	name, file := cmp.Or(s.Name, s.Env(s.Prefix)), cmp.Or(s.File, s.Env(s.Prefix+"_FILE"))
	if name == "" && file != "" {
		return nil, fmt.Errorf("%s has settings for SASL, and no mechanism is named: %s", file, Names())
	}
	typed := s.typed()
	if name == "" && len(typed) > 0 {
		return nil, fmt.Errorf("a %s is given, and no mechanism is named: --sasl gssapi", typed[0])
	}
	if name == "" {
		return nil, nil
	}
	m, known := mechanisms[strings.ToLower(name)]
	if !known {
		return nil, fmt.Errorf("there is no SASL mechanism %q, but %s", name, Names())
	}
	for _, setting := range typed {
		if !slices.Contains(m.settings, setting) {
			return nil, fmt.Errorf("a %s is not for %s", setting, name)
		}
	}
	values := map[string]string{}
	if file != "" {
		var err error
		if values, err = read(file, m.settings); err != nil {
			return nil, err
		}
	}
	made, err := m.make(func(setting string) string {
		if value := s.Typed[setting]; value != "" {
			return value
		}
		if value, given := values[setting]; given {
			return value
		}
		return s.Env(s.Prefix + "_" + strings.ToUpper(setting))
	})
	if err != nil {
		return nil, fmt.Errorf("SASL: %w; settings come from a file, as name=value, or from the variables %s_%s",
			err, s.Prefix, strings.ToUpper(strings.Join(m.settings, ", "+s.Prefix+"_")))
	}
	return made, nil
}

// typed gives the names of the settings that are typed.
func (s Source) typed() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Typed)) {
		if s.Typed[name] != "" {
			names = append(names, name)
		}
	}
	return names
}

// Credential gives a credential as it is typed; of one that is typed as @FILE, what that file has, which
// nobody else can read. Errors do not show it.
func Credential(typed string) (string, error) {
	path, is := strings.CutPrefix(typed, "@")
	if !is {
		return typed, nil
	}
	text, err := private(path)
	return strings.TrimRight(text, "\r\n"), err
}

// read reads a file of settings.
func read(path string, known []string) (map[string]string, error) {
	text, err := private(path)
	if err != nil {
		return nil, err
	}
	values, err := parse(text, known)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

// largest bounds a file, in bytes.
const largest = 1 << 16

// private reads a file that nobody else can read.
func private(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file", path)
	case othersCanRead(info.Mode()):
		return "", fmt.Errorf("others can read %s: chmod 600 %[1]s", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, largest))
	return string(text), err
}

// parse reads name=value lines. Errors show no value.
func parse(text string, known []string) (map[string]string, error) {
	values, number := map[string]string{}, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		_, twice := values[name]
		switch {
		case !found:
			return nil, fmt.Errorf("line %d is not name=value", number)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("line %d sets none of %s", number, strings.Join(known, ", "))
		case twice:
			return nil, fmt.Errorf("line %d sets %s once more", number, name)
		}
		values[name] = value
	}
	return values, nil
}

// required gives a setting that must be there.
func required(get func(string) string, name string) (string, error) {
	if value := get(name); value != "" {
		return value, nil
	}
	return "", errors.New("there is no " + name)
}
