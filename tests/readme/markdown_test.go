package readme

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the repository.
const root = "../.."

// block is a fenced block.
type block struct {
	language string
	line     int    // of its first line in the file, from 1
	comment  string // the line before the fence
	lines    []string
}

// page is a Markdown file taken apart.
type page struct {
	name   string // its path in the repository, with slashes
	blocks []block
	prose  string // without the blocks
}

// readPages reads every Markdown file below a folder, README.md first, which is the order in which
// a newcomer meets them.
func readPages(t *testing.T, folder string) (pages []page) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		p := parse(string(text))
		p.name = filepath.ToSlash(name)
		pages = append(pages, p)
		return err
	})
	require.NoError(t, err)
	first := slices.IndexFunc(pages, func(p page) bool { return p.name == "README.md" })
	require.GreaterOrEqual(t, first, 0)
	return slices.Concat(pages[first:first+1], pages[:first], pages[first+1:])
}

// at gives the path in the repository of a file that a page names: beside the page.
func (p page) at(file string) string {
	return filepath.Join(root, filepath.Dir(filepath.FromSlash(p.name)), filepath.FromSlash(file))
}

// parse takes the fenced blocks out of a text.
func parse(text string) page {
	var p page
	var prose []string
	var open *block
	before := ""
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &block{language: fence, line: i + 2, comment: before}
		case isFence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			prose = append(prose, line)
		}
		before = line
	}
	if open != nil {
		p.blocks = append(p.blocks, *open)
	}
	p.prose = strings.Join(prose, "\n")
	return p
}

var (
	inline  = regexp.MustCompile("`((?:make|go -C|go run|go test|go install|go get|go doc|go generate|zklock) [^`]+)`")
	comment = regexp.MustCompile(`\s+#.*$`)
)

// commands gives the commands of a page, in their order: of its blocks, and within sentences. The
// changelog's are left out, because they are of their time.
func (p page) commands() (all []string) {
	if p.name == "CHANGELOG.md" {
		return nil
	}
	for _, b := range p.blocks {
		for _, line := range b.lines {
			switch b.language {
			case "sh":
				line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
			case "crontab":
				line = ofCrontab(line)
			default:
				continue
			}
			if line != "" {
				all = append(all, line)
			}
		}
	}
	for _, found := range inline.FindAllStringSubmatch(p.prose, -1) {
		all = append(all, strings.ReplaceAll(found[1], "\n", " "))
	}
	return all
}

// ofCrontab gives the command of a crontab's line as cron hands it to a shell; empty where the line sets a variable.
func ofCrontab(line string) string {
	fields := regexp.MustCompile(`^(?:[\d*/,-]+ +){5}(.+)$`).FindStringSubmatch(line)
	if fields == nil {
		return ""
	}
	return strings.ReplaceAll(fields[1], `\%`, "%")
}

func TestOfCrontab(t *testing.T) {
	require.Equal(t, `zklock run --for "$(date +%FT02:00)" /a -- b`, ofCrontab(`0 2 * * */2  zklock run --for "$(date +\%FT02:00)" /a -- b`))
	require.Empty(t, ofCrontab("ZOOKEEPER_SERVERS=zk1:2181,zk2:2181"))
}

func TestParse(t *testing.T) {
	p := parse("A `make x y` here.\n<!-- code: a.go -->\n```go\nx := 1\n```\n```sh\nmake z   # why\n\ngo run . -x '#'\n```\n")
	require.Equal(t, []block{
		{"go", 4, "<!-- code: a.go -->", []string{"x := 1"}},
		{"sh", 7, "```", []string{"make z   # why", "", "go run . -x '#'"}},
	}, p.blocks)
	require.Equal(t, []string{"make z", "go run . -x '#'", "make x y"}, p.commands())
	require.Equal(t, []string{"make x\ny"}, inline.FindStringSubmatch("`make x\ny`")[1:])
}

// TestBlocks: nothing escapes the other tests because it is written in another way.
func TestBlocks(t *testing.T) {
	pages := readPages(t, root)
	require.NotEmpty(t, pages[0].commands())
	for _, p := range pages {
		for _, b := range p.blocks {
			require.Contains(t, []string{"sh", "go", "mermaid", "crontab", "text", "sql", "yaml", "python"}, b.language, "%s:%d", p.name, b.line)
		}
		for line := range strings.SplitSeq(p.prose, "\n") {
			require.False(t, strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"), "%s: an indented block: %q", p.name, line)
		}
	}
}
