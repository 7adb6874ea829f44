//go:build unix || windows

package dash

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// Sizes of the terminal, in columns and rows.
const (
	minWidth, minHeight = 40, 12 // below that there is one line
	sideBySide          = 72     // from this width on the table is beside the curves
)

type screen struct {
	w, h  int
	ascii bool
	lens
	tab    progress.Tab
	help   bool
	dialog bool   // asks how to end the run
	state  string // shown in the title, such as "paused"
	keys   []hint
	ended  string // last line instead of the keys, after the run
}

// hint describes a key: its word in the line of keys, and its line in the help.
type hint struct{ key, does, help string }

type target struct {
	x0, x1, y int
	tab       progress.Tab
}

// draw returns the dashboard as a grid. It also returns the areas of the tabs, which the mouse can
// click.
func draw(f *progress.Frame, s screen) (*grid, []target) {
	g := newGrid(s.w, s.h, s.ascii)
	if s.w < minWidth || s.h < minHeight {
		oneLine(g, f, s)
		return g, nil
	}
	g.box(0, 0, s.w, s.h)
	title(g, f, s)
	bar(g, 2, 1, s.w-2, f)
	logRows := min(max((s.h-14)/4, 1), 12)
	bottom := s.h - 2 - logRows - 1 // line above the log, or first row of the log without it
	var tabs []target
	if s.w >= sideBySide {
		tabs = wide(g, f, s, bottom)
	} else {
		tabs = narrow(g, f, s, bottom)
	}
	writeLog(g, 2, bottom+1, s.w-2, logRows, f.Log)
	hints(g, 2, s.h-2, s.w-2, s)
	switch {
	case s.help:
		helpBox(g, s)
	case s.dialog:
		box(g, "end the run?", []string{"s    finish the batch, save and end", "t    end, and throw away what was", "     trained since a checkpoint", "esc  go on"})
	}
	return g, tabs
}

// wide draws the curves to the left of the table, in rows 2 to `bottom`. It returns the areas of
// the tabs.
func wide(g *grid, f *progress.Frame, s screen, bottom int) []target {
	side := min(max(s.w*2/5, 39), 64)
	middle := s.w - side - 1
	g.separate(0, s.w-1, 2)
	g.set(middle, 2, dim, g.glyph("┬"))
	for y := 3; y < bottom; y++ {
		g.set(middle, y, dim, g.glyph("│"))
	}
	g.separate(0, s.w-1, bottom)
	g.set(middle, bottom, dim, g.glyph("┴"))
	tabs := tabRow(g, 2, 3, middle-1, f, s)
	plotTab(g, 1, 4, middle-2, bottom-4, f, s)

	x, end := middle+2, s.w-2
	readings := flow(f.Readings(), end-x)
	rows := bottom - 3
	n := min(len(readings), max(1, rows/3))
	table(g, x, 3, end, rows-n-1, f)
	g.separate(middle, s.w-1, bottom-n-1)
	for i, text := range readings[:n] {
		g.put(x, bottom-n+i, end, plain, text)
	}
	return tabs
}

func narrow(g *grid, f *progress.Frame, s screen, bottom int) []target {
	rows := bottom + 1 - 2 // there is no line above the log
	readings := flow(f.Readings(), s.w-4)
	n := min(len(readings), max(0, (rows-8)/4))
	lines := min(len(f.Rows)+1, max(2, (rows-n)/3))
	tabs := tabRow(g, 2, 2, s.w-2, f, s)
	plotTab(g, 1, 3, s.w-3, rows-1-lines-n, f, s)
	y := 2 + rows - lines - n
	table(g, 2, y, s.w-2, lines, f)
	for i, text := range readings[:n] {
		g.put(2, y+lines+i, s.w-2, plain, text)
	}
	return tabs
}

func plotTab(g *grid, x, y, w, h int, f *progress.Frame, s screen) {
	unit := ""
	if f.Tab >= 0 {
		unit = f.Tabs[f.Tab].Unit
	}
	plot(g, x, y, w, h, f.Curves, s.lens, unit)
}

func title(g *grid, f *progress.Frame, s screen) {
	name, at := f.Started.Run, f.Position()
	if !f.HasStarted {
		name, at = "waiting for a run", ""
	}
	if s.state != "" {
		at = strings.TrimSuffix(s.state+" · "+at, " · ")
	}
	if room := max(s.w-10-lipgloss.Width(name), s.w/2); lipgloss.Width(at) > room {
		at = g.shorten(at, room)
	}
	end := s.w - 2
	if at != "" {
		end = g.right(s.w-2, 0, strong, " "+at+" ") - 1
	}
	g.put(2, 0, end, strong, " "+name+" ")
}

func bar(g *grid, x, y, end int, f *progress.Frame) {
	if f.Stopped != nil {
		g.put(x, y, end, strong, "stopped: "+progress.Clean(f.Stopped.Reason, 200))
		return
	}
	if f.Split == "" {
		return // nothing is known
	}
	var tail []string
	if f.Left >= 0 {
		tail = append(tail, "eta "+progress.Clock(f.Left))
	}
	if f.Speed > 0 && end-x >= 60 {
		tail = append([]string{progress.Count(f.Speed) + " items/s"}, tail...)
	}
	right := end
	if len(tail) > 0 {
		right = g.right(end, y, plain, strings.Join(tail, "   ")) - 2
	}
	x = g.put(x, y, right, plain, capital(string(f.Split))+" ")
	done, ok := f.Fraction()
	if !ok {
		g.put(x, y, right, plain, fmt.Sprintf("batch %d", f.Batch))
		return
	}
	percent := fmt.Sprintf("%4.0f %%", 100*done)
	width := right - len(percent) - x
	for i := range width {
		text, s := "░", dim
		if float64(i)+0.5 < done*float64(width) {
			text, s = "█", styleOf(f.Split)
		}
		g.set(x+i, y, s, g.glyph(text))
	}
	g.put(right-len(percent), y, right, plain, percent)
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// tabRow writes the names of the tabs in row y, from column x up to column `end`. It returns the
// area of each name. If they do not fit, it leaves out tabs at the beginning until the chosen tab
// fits.
func tabRow(g *grid, x, y, end int, f *progress.Frame, s screen) []target {
	width := func(t progress.Tab) int { return lipgloss.Width(t.Name) + 3 }
	begin, room := 0, end-x-4
	for sum, i := 0, f.Tab; i >= 0; i-- {
		if sum += width(f.Tabs[i]); sum > room {
			begin = min(i+1, f.Tab)
			break
		}
	}
	if begin > 0 {
		g.put(x, y, end, dim, "◂")
	}
	at := x + 2
	var out []target
	for i := begin; i < len(f.Tabs); i++ {
		t := f.Tabs[i]
		if at+width(t) > end-1 && i > f.Tab {
			g.put(end-1, y, end, dim, "▸")
			break
		}
		from := at
		if i == f.Tab {
			at = g.put(at, y, end-2, marked, "["+t.Name+"]") + 1
		} else {
			at = g.put(at, y, end-2, plain, " "+t.Name+" ") + 1
		}
		out = append(out, target{from, at - 1, y, t})
	}
	return out
}

// table writes a table: a row of titles, and then a row for each metric with its last values and
// its best value. The upper left cell is (x, y). The table ends before column `end`, and has at
// most `rows` rows.
func table(g *grid, x, y, end, rows int, f *progress.Frame) {
	if len(f.Rows) == 0 {
		return
	}
	splits := f.Splits()
	columns := make([][]string, len(splits)+2) // names, splits, best
	shown := f.Rows
	if len(shown) > rows-1 {
		shown = shown[:max(rows-1, 0)]
	}
	columns[0] = append(columns[0], "")
	for i, s := range splits {
		columns[i+1] = append(columns[i+1], string(s))
	}
	columns[len(splits)+1] = append(columns[len(splits)+1], "best @")
	for _, r := range shown {
		columns[0] = append(columns[0], r.Name)
		for i, s := range splits {
			columns[i+1] = append(columns[i+1], r.Text(s))
		}
		columns[len(splits)+1] = append(columns[len(splits)+1], r.BestText())
	}
	widths := make([]int, len(columns))
	sum := 0
	for i, c := range columns {
		for _, text := range c {
			widths[i] = max(widths[i], lipgloss.Width(text))
		}
		sum += widths[i] + 2
	}
	widths[0] = max(4, min(widths[0], widths[0]+end-x-sum+2)) // names give way
	for i, c := range columns {
		s := plain
		if i > 0 && i <= len(splits) {
			s = styleOf(splits[i-1])
		}
		for row, text := range c {
			if row < rows && x < end {
				if row == 0 && i > len(splits) {
					s = dim
				} else if i > len(splits) {
					s = good
				}
				g.put(x, y+row, min(end, x+widths[i]), s, text)
			}
		}
		x += widths[i] + 2
	}
	if left := len(f.Rows) - len(shown); left > 0 && rows > 2 {
		g.right(end, y, dim, fmt.Sprintf("+%d", left))
	}
}

// flow arranges texts in lines of at most `width` columns. A text that is longer gets a line of its
// own.
func flow(texts []string, width int) (lines []string) {
	for _, t := range texts {
		if n := len(lines); n > 0 && lipgloss.Width(lines[n-1])+3+lipgloss.Width(t) <= width {
			lines[n-1] += "   " + t
			continue
		}
		lines = append(lines, t)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	return lines
}

func writeLog(g *grid, x, y, end, rows int, lines []progress.Line) {
	lines = lines[max(0, len(lines)-rows):]
	for i, l := range lines {
		s := plain
		switch l.Kind {
		case progress.Good:
			s = good
		case progress.Warning:
			s = bad
		case progress.Output:
			s = dim
		}
		g.put(x, y+i, end, s, l.String())
	}
}

// hints writes the line of keys in row y, from column x up to column `end`. If s.ended is not
// empty, it writes s.ended instead. If the line is too long, it leaves out keys, but not the last
// two.
func hints(g *grid, x, y, end int, s screen) {
	if s.ended != "" {
		g.put(x, y, end, strong, s.ended)
		return
	}
	var texts []string
	for _, k := range s.keys {
		texts = append(texts, k.key+" "+k.does)
	}
	joined := func() string { return strings.Join(texts, "  ") }
	for len(texts) > 2 && lipgloss.Width(joined()) > end-x {
		texts = append(texts[:len(texts)-3], texts[len(texts)-2:]...)
	}
	g.put(x, y, end, dim, joined())
}

func helpBox(g *grid, s screen) {
	var lines []string
	for _, k := range s.keys {
		lines = append(lines, fmt.Sprintf("%-3s  %s", k.key, k.help))
	}
	box(g, "keys", append(lines, "1…9  choose a metric"))
}

// box writes lines in a box in the middle of the screen, with `name` in its upper edge. It leaves
// out lines that do not fit.
func box(g *grid, name string, lines []string) {
	w := lipgloss.Width(name)
	for _, l := range lines {
		w = max(w, lipgloss.Width(l))
	}
	w, h := min(w+4, g.w), min(len(lines)+2, g.h)
	x, y := (g.w-w)/2, (g.h-h)/2
	g.box(x, y, w, h)
	g.put(x+1, y, x+w-1, strong, " "+name+" ")
	for i, l := range lines[:h-2] {
		g.put(x+2, y+1+i, x+w-2, plain, l)
	}
}

func oneLine(g *grid, f *progress.Frame, s screen) {
	if !f.HasStarted {
		g.put(0, 0, g.w, plain, "waiting for a run")
		return
	}
	parts := []string{}
	if s.dialog {
		parts = append(parts, "s save and end, t throw away, esc go on")
	}
	if s.state != "" {
		parts = append(parts, s.state)
	}
	if done, ok := f.Fraction(); ok && f.Stopped == nil {
		parts = append(parts, fmt.Sprintf("e%d %.0f %%", f.Epoch+1, 100*done))
	} else {
		parts = append(parts, fmt.Sprintf("step %d", f.Step))
	}
	for _, row := range f.Rows {
		if text := row.Text(learn.Train); text != "" {
			parts = append(parts, row.Name+" "+text)
			break
		}
	}
	if f.Left >= 0 {
		parts = append(parts, "eta "+progress.Clock(f.Left))
	}
	g.put(0, 0, g.w, plain, strings.Join(parts, "  ")+"  "+f.Started.Run)
}
