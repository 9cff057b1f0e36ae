package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository, as it is on disk.
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
	blocks []block
	prose  string // without the blocks
}

// readPage reads README.md in a folder.
func readPage(t *testing.T, folder string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	return parse(string(text))
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
	inline  = regexp.MustCompile("`((?:make|go run|go test|go install|go get|go doc|zklock) [^`]+)`")
	comment = regexp.MustCompile(`\s+#.*$`)
)

// commands are the commands of a page, in their order: those of its blocks, and those within sentences.
func (p page) commands() (all []string) {
	for _, b := range p.blocks {
		if b.language != "sh" {
			continue
		}
		for _, line := range b.lines {
			if line = strings.TrimSpace(comment.ReplaceAllString(line, "")); line != "" {
				all = append(all, line)
			}
		}
	}
	for _, found := range inline.FindAllStringSubmatch(p.prose, -1) {
		all = append(all, found[1])
	}
	return all
}

func TestParse(t *testing.T) {
	p := parse("A `make x y` here.\n<!-- code: a.go -->\n```go\nx := 1\n```\n```sh\nmake z   # why\n\ngo run . -x '#'\n```\n")
	require.Equal(t, []block{
		{"go", 4, "<!-- code: a.go -->", []string{"x := 1"}},
		{"sh", 7, "```", []string{"make z   # why", "", "go run . -x '#'"}},
	}, p.blocks)
	require.Equal(t, []string{"make z", "go run . -x '#'", "make x y"}, p.commands())
}

// TestBlocks: nothing escapes the other tests because it is written in another way.
func TestBlocks(t *testing.T) {
	p := readPage(t, root)
	require.NotEmpty(t, p.commands())
	for _, b := range p.blocks {
		require.Contains(t, []string{"sh", "go", "mermaid"}, b.language, "README.md:%d", b.line)
	}
	for line := range strings.SplitSeq(p.prose, "\n") {
		require.False(t, strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"), "an indented block: %q", line)
	}
}
