package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/burngen/burngen/runtime/rt/keys"
)

// directive is a comment addressed to burngen.
type directive struct {
	// word is the keyword, such as "func".
	word string
	// text is the text after the keyword.
	text string
	// pos is the position of the directive, and at the position of text.
	pos, at token.Pos
}

// words maps the keywords of directives to the kind of declaration that they precede.
var words = map[string]string{
	"func": "an exported method", "loss": "an exported method",
	"config": "a struct", "module": "a struct",
}

// meant matches comments that may be directives or misspelt directives.
var meant = regexp.MustCompile(`^//([ \t]*)(?i:burngen)(\s*:\s*)(\w*)`)

// directives returns the directives in a comment group, and calls the function `fault` for each mistake.
func directives(g *ast.CommentGroup, fault func(pos token.Pos, text string)) []directive {
	if g == nil {
		return nil
	}
	var list []directive
	for _, c := range g.List {
		m := meant.FindStringSubmatch(c.Text)
		if m == nil {
			continue
		}
		blank, word := m[1], m[3]
		_, known := words[word]
		exact := "//burngen:" + word
		switch {
		case !strings.HasPrefix(c.Text, exact) && !known:
			// Prose that starts with the name.
		case blank != "":
			fault(c.Pos(), fmt.Sprintf("write %s without the space, or gofmt takes it for prose", exact))
		case !strings.HasPrefix(c.Text, exact):
			fault(c.Pos(), fmt.Sprintf("write %s", exact))
		case !known:
			fault(c.Pos(), fmt.Sprintf("unknown directive %s%s", exact, suggestion(word)))
		default:
			rest := c.Text[len(exact):]
			text := strings.TrimLeft(rest, " \t")
			if text == rest && text != "" {
				fault(c.Pos(), fmt.Sprintf("a space is missing after %s", exact))
				continue
			}
			if before, _, ok := strings.Cut(text, "//"); ok {
				text = before
			}
			at := c.Pos() + token.Pos(len(c.Text)-len(strings.TrimLeft(rest, " \t")))
			list = append(list, directive{word: word, text: strings.TrimRight(text, " \t\r"), pos: c.Pos(), at: at})
		}
	}
	return list
}

// suggestion returns a hint for an unknown keyword: the keyword that the user may have meant, or
// else func, loss and config.
func suggestion(word string) string {
	if near := keys.Nearest(strings.ToLower(word), []string{"func", "loss", "config", "module"}); len(near) > 0 {
		return "; //burngen:" + near[0] + "?"
	}
	return "; there are func, loss and config"
}
