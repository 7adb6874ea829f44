package metric

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
)

// ConfusionMatrix counts how often items of each class are predicted as each class. Its counters are
// of type [*Confusion]. The value of a counter is the accuracy in percent, its text is a table, and
// its picture shows the table. A counter reports an error if there are more than 4096 classes.
func ConfusionMatrix() Metric[Classes] {
	const name = "confusion matrix"
	r := rule[Classes, *matrix]{
		empty: func() *matrix { return new(matrix) },
		add:   (*matrix).add,
		value: (*matrix).accuracy,
	}
	return Metric[Classes]{name, "%", 1, false, func() Counter[Classes] {
		return &Confusion{newCounter(name, "%", r)}
	}}
}

// Confusion is the counter of [ConfusionMatrix].
type Confusion struct{ *counter[Classes, *matrix] }

var _ based[Classes, *matrix] = (*Confusion)(nil)

func (c *Confusion) base() *counter[Classes, *matrix] {
	if c == nil {
		return nil
	}
	return c.counter
}

// Matrix returns a copy of the counts. Element [i][j] is the number of items of class i that are
// predicted as class j.
func (c *Confusion) Matrix() [][]int64 {
	k := c.tally.classes
	rows := make([][]int64, k)
	for i := range rows {
		rows[i] = slices.Clone(c.tally.counts[i*k : (i+1)*k])
	}
	return rows
}

// Text implements [Texter]. It returns a table with a row for each class. If there are more than 20
// classes, it returns the accuracy. Without data it returns "no data", and after an error the error.
func (c *Confusion) Text() string {
	if k := c.tally.classes; c.err != nil || k == 0 || k > mostListed {
		return c.counter.Text()
	}
	width := 1
	for _, n := range c.tally.counts {
		width = max(width, len(fmt.Sprint(n)))
	}
	width = max(width, len(fmt.Sprint(c.tally.classes-1)))
	head := len("target")
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", head, "target")
	for j := range c.tally.classes {
		fmt.Fprintf(&b, "  %*d", width, j)
	}
	for i, row := range c.Matrix() {
		fmt.Fprintf(&b, "\n%*d", head, i)
		for _, n := range row {
			fmt.Fprintf(&b, "  %*d", width, n)
		}
	}
	return b.String()
}

// Picture implements [Picturer]. It returns the matrix as a picture with a square for each count. A
// square is darker if its count is a larger fraction of the items of its row.
func (c *Confusion) Picture() image.Image {
	k := c.tally.classes
	if k == 0 {
		return nil
	}
	side := max(1, min(32, 512/k))
	picture := image.NewGray(image.Rect(0, 0, k*side, k*side))
	for i, row := range c.Matrix() {
		all := int64(0)
		for _, n := range row {
			all += n
		}
		for j, n := range row {
			share := ratio(float64(n), float64(all))
			grey := color.Gray{uint8(math.Round(255 * (1 - share)))}
			for y := range side {
				for x := range side {
					picture.SetGray(j*side+x, i*side+y, grey)
				}
			}
		}
	}
	return picture
}

type matrix struct {
	classes int
	// row-major
	counts []int64
}

const mostConfused = 4096

func (m *matrix) fit(classes int) error {
	if classes > mostConfused {
		return fmt.Errorf("%d classes: at most %d expected", classes, mostConfused)
	}
	if m.classes == 0 {
		m.classes, m.counts = classes, make([]int64, classes*classes)
	}
	return sameClasses(classes, m.classes)
}

func (m *matrix) add(o Classes) error {
	k, err := o.classes()
	if err != nil || k == 0 {
		return err
	}
	if err := m.fit(k); err != nil {
		return err
	}
	return o.each(func(target int, row []float32) error {
		m.counts[target*k+o.predicted(row)]++
		return nil
	})
}

func (m *matrix) accuracy() float64 {
	var right, all int64
	for i, n := range m.counts {
		if all += n; i/m.classes == i%m.classes {
			right += n
		}
	}
	return percent(right, all)
}

func (m *matrix) merge(o *matrix) error {
	if o.classes == 0 {
		return nil
	}
	if err := m.fit(o.classes); err != nil {
		return err
	}
	for i, n := range o.counts {
		m.counts[i] += n
	}
	return nil
}

func (m *matrix) numbers() numbers { return numbers{ints: m.counts} }

func (m *matrix) restore(n numbers) error {
	k := int(math.Sqrt(float64(len(n.ints))))
	if k*k != len(n.ints) || k > mostConfused || len(n.floats) != 0 {
		return errSaved
	}
	m.classes, m.counts = k, n.ints
	return nil
}
