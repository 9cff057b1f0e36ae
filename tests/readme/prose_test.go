package readme

import (
	godoc "go/doc/comment"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxWords bounds a sentence.
const maxWords = 30

// longSentences are the sentences that may be longer.
var longSentences = []struct{ file, begins, reason string }{}

// TestSentences: no sentence of a page or of a package doc is longer than 30 words. The changelog is
// not looked at. Code, tables and headings are no sentences.
func TestSentences(t *testing.T) {
	met := make([]bool, len(longSentences))
	for file, paragraphs := range prose(t) {
		for _, paragraph := range paragraphs {
			for _, sentence := range sentences(paragraph) {
				words := len(strings.Fields(sentence))
				if words <= maxWords {
					continue
				}
				allowed := false
				for i, e := range longSentences {
					if e.file == file && strings.HasPrefix(sentence, e.begins) {
						met[i], allowed = true, true
					}
				}
				if !allowed {
					t.Errorf("%s has a sentence of %d words: %s", file, words, sentence)
				}
			}
		}
	}
	for i, e := range longSentences {
		if !met[i] {
			t.Errorf("%s has no long sentence any more that begins with %q: take it off the list", e.file, e.begins)
		}
	}
}

// prose gives the paragraphs of each page and each package doc, by the file's path in the repository.
func prose(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, p := range readPages(t, root) {
		if p.name != "CHANGELOG.md" {
			all[p.name] = pageParagraphs(p.prose)
		}
	}
	docs, _ := packageDocs(t)
	for path, doc := range docs {
		all[inRepository(t, path)] = docParagraphs(doc)
	}
	return all
}

// inRepository is a path of the repository, with slashes, of a file on disk.
func inRepository(t *testing.T, path string) string {
	t.Helper()
	name, err := filepath.Rel(root, path)
	require.NoError(t, err)
	return filepath.ToSlash(name)
}

// docParagraphs are the paragraphs of a doc comment, list items among them; code and headings are left out.
func docParagraphs(doc string) (paragraphs []string) {
	var parser godoc.Parser
	var add func(godoc.Block)
	add = func(b godoc.Block) {
		switch b := b.(type) {
		case *godoc.Paragraph:
			paragraphs = append(paragraphs, plain(b.Text))
		case *godoc.List:
			for _, item := range b.Items {
				for _, content := range item.Content {
					add(content)
				}
			}
		}
	}
	for _, b := range parser.Parse(doc).Content {
		add(b)
	}
	return paragraphs
}

// plain is the text of a paragraph, in one line.
func plain(text []godoc.Text) string {
	var s strings.Builder
	for _, part := range text {
		switch part := part.(type) {
		case godoc.Plain:
			s.WriteString(string(part))
		case godoc.Italic:
			s.WriteString(string(part))
		case *godoc.Link:
			s.WriteString(plain(part.Text))
		case *godoc.DocLink:
			s.WriteString(plain(part.Text))
		}
	}
	return strings.Join(strings.Fields(s.String()), " ")
}

var (
	hidden   = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)
	linked   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	code     = regexp.MustCompile("`[^`]*`")
	listItem = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
)

// pageParagraphs are the paragraphs of a page without its fenced blocks, list items among them. Tables, headings and
// HTML are left out; a piece of code counts as one word, and of a link its text.
func pageParagraphs(text string) (paragraphs []string) {
	text = hidden.ReplaceAllString(text, "")
	text = code.ReplaceAllStringFunc(text, func(s string) string { return strings.Join(strings.Fields(s), "␣") })
	for text != linked.ReplaceAllString(text, "$1") { // a link may be around an image
		text = linked.ReplaceAllString(text, "$1")
	}
	var open []string
	end := func() {
		if text := strings.Join(strings.Fields(strings.Join(open, " ")), " "); text != "" {
			paragraphs = append(paragraphs, text)
		}
		open = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		skip := strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#")
		item := listItem.FindString(line)
		if skip || item != "" || strings.TrimSpace(line) == "" {
			end()
		}
		if !skip {
			open = append(open, strings.TrimPrefix(line, item))
		}
	}
	end()
	return paragraphs
}

var (
	ending        = regexp.MustCompile(`[.!?]["')\]*_]*\s+`)
	abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "..."}
)

// sentences splits a paragraph. Colons and semicolons end no sentence, and no abbreviation does.
func sentences(paragraph string) (all []string) {
	begin := 0
	for _, at := range ending.FindAllStringIndex(paragraph, -1) {
		sentence := strings.TrimSpace(paragraph[begin:at[1]])
		abbreviated := false
		for _, a := range abbreviations {
			abbreviated = abbreviated || strings.HasSuffix(sentence, a)
		}
		if !abbreviated {
			all = append(all, sentence)
			begin = at[1]
		}
	}
	if last := strings.TrimSpace(paragraph[begin:]); last != "" {
		all = append(all, last)
	}
	return all
}

func TestSentencesAreSplit(t *testing.T) {
	require.Equal(t, []string{"One is here.", "Is it?", `"Yes!"`, "(It is.)", "It is 0.4 T, e.g. 4 s; so: it ends."},
		sentences(`One is here. Is it? "Yes!" (It is.) It is 0.4 T, e.g. 4 s; so: it ends.`))
	require.Equal(t, []string{"go test ./... passes.", "zklock too"}, sentences("go test ./... passes. zklock too"))
	require.Empty(t, sentences(""))
}

// TestLongSentencesAreFound: wherever a sentence may stand.
func TestLongSentencesAreFound(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", maxWords)) + " more."
	for name, paragraphs := range map[string][]string{
		"page":           pageParagraphs("# Heading\n\nShort.\n" + strings.ReplaceAll(long, "d w", "d\nw") + " Short.\n"),
		"item of a page": pageParagraphs("Short:\n- short\n- " + long + "\n- short\n"),
		"doc":            docParagraphs("Package x is short. " + long + "\n\n# Heading\n\nShort.\n"),
		"item of a doc":  docParagraphs("Package x is\n\n  - short\n  - " + strings.ReplaceAll(long, "d m", "d\n    m") + "\n"),
	} {
		found := 0
		for _, p := range paragraphs {
			for _, s := range sentences(p) {
				if len(strings.Fields(s)) > maxWords {
					require.Equal(t, long, s, name)
					found++
				}
			}
		}
		require.Equal(t, 1, found, "%s: %q", name, paragraphs)
	}
	require.Equal(t, []string{"A `make␣x␣y` and a page.", "An item", "another that goes on"}, pageParagraphs(
		"A `make x\ny` and <b>a</b>\n[page](at/it.md).\n# "+long+"\n| "+long+" |\n<!-- "+long+" -->\n- An item\n- another\n  that goes on\n"))
	require.Equal(t, []string{"Package x:"}, docParagraphs("Package x:\n\n\t"+long+"\n\n# Heading\n"))
}
