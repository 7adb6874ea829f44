package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestLinks checks that the links of all pages lead to a file or a folder of the repository. If a
// link names a heading, the page must have it.
func TestLinks(t *testing.T) {
	var pages []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "out"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links(string(text)) {
			if err := follows(page, link); err != nil {
				t.Errorf("%s: %v", filepath.ToSlash(name), err)
			}
		}
	}
}

// follows returns an error if a link of a page does not lead to an existing place in the
// repository. It does not follow links to other places.
func follows(page, link string) error {
	if strings.Contains(link, "://") {
		return nil
	}
	file, anchor, _ := strings.Cut(link, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("link %q: there is no such file", link)
	}
	if anchor == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !slices.Contains(anchors(string(text)), anchor) {
		return fmt.Errorf("link %q: the page has no such heading", link)
	}
	return nil
}

// target is the target of a link or of an image.
var target = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// code is code in a line.
var code = regexp.MustCompile("`[^`]*`")

// links returns the targets of a page's links, except in code.
func links(page string) (list []string) {
	for _, line := range prose(page) {
		for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(line, "x"), -1) {
			list = append(list, m[1])
		}
	}
	return list
}

// anchors returns the names by which links find a page's headings: as GitHub makes them.
func anchors(page string) (list []string) {
	for _, line := range prose(page) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			list = append(list, strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
					return unicode.ToLower(r)
				}
				return -1
			}, strings.TrimSpace(title)))
		}
	}
	return list
}

// prose returns the lines of a page that are not in fenced blocks or comments.
func prose(page string) (lines []string) {
	fenced, comment := false, false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		switch {
		case comment:
			comment = !strings.HasSuffix(text, "-->")
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(text, "<!--"):
			comment = !strings.HasSuffix(text, "-->")
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

func TestLinksAreFound(t *testing.T) {
	page := "# The `-strict` flag, and why?\n[a](b.md) and ![c](d.svg#e), `[f](g)`\n```\n# not a heading\n[h](i)\n```\n<!-- test: x\n[l](m)\n-->\n<!-- [n](o) -->\n[`j`](#k)\n"
	if got, want := links(page), []string{"b.md", "d.svg#e", "#k"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	if got, want := anchors(page), []string{"the--strict-flag-and-why"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
	for link, ok := range map[string]bool{
		"go.mod": true, "golden": true, "https://example.com/none": true, "README.md#limits": true,
		"none.md": false, "README.md#none": false,
	} {
		if err := follows(filepath.Join(root, "page.md"), link); (err == nil) != ok {
			t.Errorf("%q: %v", link, err)
		}
	}
}
