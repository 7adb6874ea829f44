//go:build unix || windows

package dash

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
)

type style int

const (
	plain  style = iota
	dim          // frames, labels
	strong       // titles
	first        // curve and column of training
	second       // of validation
	third        // of test data, and all other curves
	good         // an improvement
	bad          // a warning
	marked       // the chosen tab
)

// looks is indexed by style. It uses the terminal's own 16 colours.
var looks = [...]lipgloss.Style{
	plain:  lipgloss.NewStyle(),
	dim:    lipgloss.NewStyle().Faint(true),
	strong: lipgloss.NewStyle().Bold(true),
	first:  lipgloss.NewStyle().Foreground(lipgloss.Color("6")),
	second: lipgloss.NewStyle().Foreground(lipgloss.Color("3")),
	third:  lipgloss.NewStyle().Foreground(lipgloss.Color("5")),
	good:   lipgloss.NewStyle().Foreground(lipgloss.Color("2")),
	bad:    lipgloss.NewStyle().Foreground(lipgloss.Color("1")),
	marked: lipgloss.NewStyle().Reverse(true),
}

// cell is one character cell of the screen. A character that is two columns wide takes two cells,
// of which the second has an empty text.
type cell struct {
	text  string
	style style
}

// grid is a screen of cells. Writes outside it are ignored.
type grid struct {
	w, h  int
	ascii bool
	cells []cell
}

func newGrid(w, h int, ascii bool) *grid {
	g := &grid{w: w, h: h, ascii: ascii, cells: make([]cell, w*h)}
	for i := range g.cells {
		g.cells[i].text = " "
	}
	return g
}

// maxCell is the largest number of bytes of a cell's text, which is a character with its combining
// marks.
const maxCell = 16

// put writes text in row y, from column x up to column `end`, exclusive. It cuts text that is too
// long and appends an ellipsis. It returns the column after the text.
func (g *grid) put(x, y, end int, s style, text string) int {
	end = min(end, g.w)
	if g.ascii {
		text = asciiOf(text)
	}
	if over := x + lipgloss.Width(text) - end; over > 0 && end-x > 1 {
		text = g.shorten(text, end-x)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r) {
			continue
		}
		t := string(r)
		n := lipgloss.Width(t)
		if n == 0 {
			if i := y*g.w + x - 1; x > 0 && y >= 0 && y < g.h && x <= g.w && len(g.cells[i].text) > 0 && len(g.cells[i].text)+len(t) <= maxCell {
				g.cells[i].text += t
			}
			continue
		}
		if x+n > end {
			break
		}
		g.set(x, y, s, t)
		for i := 1; i < n; i++ {
			g.set(x+i, y, s, "")
		}
		x += n
	}
	return x
}

// shorten cuts text to `columns` columns, including an ellipsis.
func (g *grid) shorten(text string, columns int) string {
	mark := "…"
	if g.ascii {
		mark = "~"
	}
	var out strings.Builder
	n := 0
	for _, r := range text {
		w := lipgloss.Width(string(r))
		if n+w > columns-1 {
			break
		}
		n += w
		out.WriteRune(r)
	}
	return out.String() + mark
}

// set writes one cell. If this overwrites half of a wide character, the other half becomes a space.
func (g *grid) set(x, y int, s style, text string) {
	if x < 0 || x >= g.w || y < 0 || y >= g.h {
		return
	}
	row := g.cells[y*g.w : (y+1)*g.w]
	if row[x].text == "" {
		row[x-1].text = " "
	}
	if x+1 < g.w && row[x+1].text == "" {
		row[x+1].text = " "
	}
	row[x] = cell{text, s}
}

// right writes text so that it ends before column `end`. It returns the first column of the text.
func (g *grid) right(end, y int, s style, text string) int {
	if g.ascii {
		text = asciiOf(text)
	}
	x := end - lipgloss.Width(text)
	g.put(x, y, end, s, text)
	return x
}

// across draws a horizontal line in row y, from column x0 up to column x1, exclusive.
func (g *grid) across(x0, x1, y int) {
	for x := x0; x < x1; x++ {
		g.set(x, y, dim, g.glyph("─"))
	}
}

func (g *grid) box(x, y, w, h int) {
	for row := range h {
		for column := range w {
			g.set(x+column, y+row, plain, " ")
		}
		g.set(x, y+row, dim, g.glyph("│"))
		g.set(x+w-1, y+row, dim, g.glyph("│"))
	}
	g.across(x, x+w, y)
	g.across(x, x+w, y+h-1)
	g.set(x, y, dim, g.glyph("┌"))
	g.set(x+w-1, y, dim, g.glyph("┐"))
	g.set(x, y+h-1, dim, g.glyph("└"))
	g.set(x+w-1, y+h-1, dim, g.glyph("┘"))
}

// separate draws a horizontal line in row y, from the left side of a box in column x0 to its right
// side in x1. The line joins the frame of the box.
func (g *grid) separate(x0, x1, y int) {
	g.across(x0, x1, y)
	g.set(x0, y, dim, g.glyph("├"))
	g.set(x1, y, dim, g.glyph("┤"))
}

// glyph returns text, or its ASCII replacement without Unicode.
func (g *grid) glyph(text string) string {
	if g.ascii {
		return asciiOf(text)
	}
	return text
}

// toASCII replaces the characters that the dashboard draws.
var toASCII = strings.NewReplacer("─", "-", "│", "|", "┌", "+", "┐", "+", "└", "+", "┘", "+", "├", "+", "┤", "+", "┬", "+", "┴", "+",
	"█", "#", "░", ".", "·", "-", "…", "~", "◂", "<", "▸", ">", "←→", "<>", "↑↓", "^v", "°", "")

// asciiOf returns text in ASCII. It drops combining marks. A character without a replacement
// becomes a question mark.
func asciiOf(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r > unicode.MaxASCII:
			return '?'
		}
		return r
	}, toASCII.Replace(text))
}

// text returns the grid without styles. Lines have no trailing spaces.
func (g *grid) text() string {
	var out strings.Builder
	for y := range g.h {
		var line strings.Builder
		for _, c := range g.cells[y*g.w : (y+1)*g.w] {
			line.WriteString(c.text)
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

// styled returns the grid with the escape sequences of its styles.
func (g *grid) styled() string {
	var out strings.Builder
	for y := range g.h {
		if y > 0 {
			out.WriteByte('\n')
		}
		row := g.cells[y*g.w : (y+1)*g.w]
		for len(row) > 0 {
			n := 1
			for n < len(row) && row[n].style == row[0].style {
				n++
			}
			var run strings.Builder
			for _, c := range row[:n] {
				run.WriteString(c.text)
			}
			if row[0].style == plain {
				out.WriteString(run.String())
			} else {
				out.WriteString(looks[row[0].style].Render(run.String()))
			}
			row = row[n:]
		}
	}
	return out.String()
}
