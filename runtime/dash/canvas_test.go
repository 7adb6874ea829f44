//go:build unix || windows

package dash

import "testing"

func TestCanvas(t *testing.T) {
	for _, c := range []struct {
		ascii bool
		draw  func(c *canvas)
		want  string
	}{
		{false, func(c *canvas) { c.line(0, 0, 5, 0, first, false) }, "⠉⠉⠉\n\n"},
		{false, func(c *canvas) { c.line(0, 7, 5, 7, first, false) }, "\n⣀⣀⣀\n"},
		{false, func(c *canvas) { c.line(0, 0, 0, 7, first, false) }, "⡇\n⡇\n"},
		{false, func(c *canvas) { c.line(5, 7, 5, 0, first, false) }, "  ⢸\n  ⢸\n"},
		{false, func(c *canvas) { c.line(0, 7, 5, 2, first, false) }, "  ⡠\n⡠⠊\n"},
		{false, func(c *canvas) { c.line(0, 0, 5, 0, first, true) }, "⠉ ⠉\n\n"},
		{false, func(c *canvas) { c.dot(-1, 0, first); c.dot(6, 0, first); c.dot(0, 8, first) }, "\n\n"},
		{true, func(c *canvas) { c.line(0, 0, 2, 1, first, false) }, "*\n **\n"},
		{true, func(c *canvas) { c.line(0, 0, 2, 0, second, true); c.dot(1, 1, third) }, "ooo\n x\n"},
	} {
		g, canvas := newGrid(3, 2, c.ascii), newCanvas(3, 2, c.ascii)
		c.draw(canvas)
		canvas.draw(g, 0, 0)
		if got := g.text(); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}
