package gssapi

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"
)

const (
	defaultConfig = "/etc/krb5.conf"
	// deepestInclude bounds files that include each other.
	deepestInclude = 8
)

// readConfig reads krb5.conf: the file that was given, those of KRB5_CONFIG, or /etc/krb5.conf.
func readConfig(path string) (*config.Config, error) {
	paths := []string{path}
	if path == "" {
		paths = filepath.SplitList(os.Getenv("KRB5_CONFIG"))
	}
	if len(paths) == 0 {
		paths = []string{defaultConfig}
	}
	text := sections{lines: map[string][]string{}}
	for i, path := range paths {
		err := text.add(path, 0)
		// Of several, some may be missing; then the last one must be there, or one before it was.
		if errors.Is(err, fs.ErrNotExist) && len(paths) > 1 && (i < len(paths)-1 || len(text.order) > 0) {
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	cfg, err := config.NewFromString(text.String())
	var unsupported config.UnsupportedDirective // a directive that the library knows and passes over
	if err != nil && !errors.As(err, &unsupported) {
		return nil, err
	}
	l := &cfg.LibDefaults
	l.DefaultTGSEnctypeIDs = requested(cfg, l.DefaultTGSEnctypes, l.DefaultTGSEnctypeIDs)
	l.DefaultTktEnctypeIDs = requested(cfg, l.DefaultTktEnctypes, l.DefaultTktEnctypeIDs)
	return cfg, nil
}

// requested gives the encryption types to ask a KDC for: those of ours that the configuration names
// or permits, and all of ours if it names none. The library's own defaults lack those with SHA-2.
func requested(cfg *config.Config, names []string, named []int32) []int32 {
	unset := config.New().LibDefaults
	if !slices.Equal(names, unset.DefaultTGSEnctypes) {
		return among(named)
	}
	if !slices.Equal(cfg.LibDefaults.PermittedEnctypes, unset.PermittedEnctypes) {
		return among(cfg.LibDefaults.PermittedEnctypeIDs)
	}
	return slices.Clone(supportedTypes)
}

// sections gathers the lines of the sections of several files. The library reads one text, follows
// no include, and keeps only the last of several sections of one name.
type sections struct {
	order []string
	lines map[string][]string
}

var heading = regexp.MustCompile(`^\s*\[([^\]]*)\]`)

// add reads a file and the files that it includes, at the place where it includes them.
func (s *sections) add(path string, depth int) error {
	if depth > deepestInclude {
		return errors.New(path + ": files include each other")
	}
	content, err := readFile(path, anybody)
	if err != nil {
		return err
	}
	section := ""
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "include":
			err = s.add(words[1], depth+1)
		case len(words) == 2 && words[0] == "includedir":
			err = s.addFolder(words[1], depth+1)
		case heading.MatchString(line):
			section = strings.TrimSpace(heading.FindStringSubmatch(line)[1])
		case section != "":
			if _, seen := s.lines[section]; !seen {
				s.order = append(s.order, section)
			}
			s.lines[section] = append(s.lines[section], strings.TrimRight(line, "\r\n"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var includedName = regexp.MustCompile(`^([a-zA-Z0-9_-]+|[^.].*\.conf)$`)

// addFolder reads the files of a folder, as MIT's library selects them.
func (s *sections) addFolder(path string, depth int) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !includedName.MatchString(entry.Name()) {
			continue
		}
		if err := s.add(filepath.Join(path, entry.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

// String is one text with each section once.
func (s *sections) String() string {
	var text strings.Builder
	for _, section := range s.order {
		text.WriteString("[" + section + "]\n" + strings.Join(s.lines[section], "\n") + "\n")
	}
	return text.String()
}
