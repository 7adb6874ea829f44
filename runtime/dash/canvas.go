//go:build unix || windows

package dash

// canvas is a grid of dots. A cell of the terminal has 2 × 4 dots, and is drawn as a Braille
// character (U+2800 and above). If ascii is true, a cell has one dot.
type canvas struct {
	// in cells
	columns, rows int
	ascii         bool
	dots          []uint8
	styles        []style
}

// bits holds the bit of each dot in a Braille character (Unicode, section 21.1). It is indexed by
// the dot's row and column in its cell.
var bits = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func newCanvas(columns, rows int, ascii bool) *canvas {
	return &canvas{columns, rows, ascii, make([]uint8, columns*rows), make([]style, columns*rows)}
}

func (c *canvas) size() (w, h int) {
	if c.ascii {
		return c.columns, c.rows
	}
	return 2 * c.columns, 4 * c.rows
}

func (c *canvas) dot(x, y int, s style) {
	w, h := c.size()
	if x < 0 || y < 0 || x >= w || y >= h {
		return
	}
	if c.ascii {
		c.dots[y*c.columns+x], c.styles[y*c.columns+x] = 1, s
		return
	}
	i := y/4*c.columns + x/2
	c.dots[i] |= bits[y%4][x%2]
	c.styles[i] = s
}

// line draws a line from dot (x0, y0) to dot (x1, y1), with gaps if dashed is true.
func (c *canvas) line(x0, y0, x1, y1 int, s style, dashed bool) {
	dx, dy := abs(x1-x0), abs(y1-y0)
	n := max(dx, dy)
	for i := range n + 1 {
		x, y := x0, y0
		if n > 0 { // rounded to the nearest dot
			x += (2*i*(x1-x0) + sign(x1-x0)*n) / (2 * n)
			y += (2*i*(y1-y0) + sign(y1-y0)*n) / (2 * n)
		}
		if !dashed || c.ascii || (x+y)%4 < 2 {
			c.dot(x, y, s)
		}
	}
}

// draw writes the cells that have dots to a grid. Cell (0, 0) is at (x, y). Cells without dots do
// not change the grid.
func (c *canvas) draw(g *grid, x, y int) {
	for i, d := range c.dots {
		if d == 0 {
			continue
		}
		text := string(rune(0x2800 + int(d)))
		if c.ascii {
			text = asciiMark(c.styles[i])
		}
		g.set(x+i%c.columns, y+i/c.columns, c.styles[i], text)
	}
}

// asciiMark returns the character that is drawn instead of a curve's dots if Unicode is not
// available.
func asciiMark(s style) string {
	switch s {
	case first:
		return "*"
	case second:
		return "o"
	}
	return "x"
}

func abs(x int) int { return max(x, -x) }

func sign(x int) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}
