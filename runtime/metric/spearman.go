package metric

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// cells is the number of cells that count pairs when there are too many pairs to keep. sideCells is its
// square root.
const (
	sideCells = 1 << 8
	cells     = sideCells * sideCells
)

// Spearman returns Spearman's correlation: Pearson's correlation of the ranks of predictions and targets,
// from -1 to 1. Equal values all get the mean of their ranks. If items have several values, each value has
// its own correlation, and the result is their mean. It is NaN if all predictions or all targets of a value
// are equal.
//
// The value is exact for up to 10⁶ pairs. Beyond that, the counter only knows how many pairs fall into each
// of 2¹⁶ cells for each value. The bounds of the cells are 2⁸ quantiles of the first predictions and of the
// first targets, so that the value depends on which items came first. The counter's text says whether the
// value is exact.
func Spearman() Metric[Values] {
	return newMetric("Spearman", "", 1, rule[Values, *pairs]{
		empty: newPairs,
		add:   (*pairs).add,
		value: (*pairs).value,
		note:  (*pairs).note,
	})
}

// pairs holds pairs of a prediction and a target, for each column of an item's values. All pairs are kept up
// to a limit. Beyond it, a column only counts the pairs in each cell of a grid.
type pairs struct {
	// the largest number of pairs that are kept, in all columns together
	limit   int
	kept    int
	columns []paired
}

type paired struct {
	predicted, targets []float64
	// lower bounds of the cells, in increasing order
	predictedEdges, targetsEdges []float64
	// row-major: a row of sideCells cells for each interval of targets
	cells []int64
}

func newPairs() *pairs { return &pairs{limit: mostScores} }

func (p *pairs) inCells() bool { return len(p.columns) > 0 && p.columns[0].cells != nil }

func (p *pairs) note() string {
	if p.inCells() {
		return fmt.Sprintf("%d cells", cells)
	}
	return "exact"
}

func (p *pairs) fit(width int) error {
	if len(p.columns) == 0 {
		p.columns = make([]paired, width)
	}
	return sameWidth(width, len(p.columns))
}

func (p *pairs) add(o Values) error {
	if err := o.check(); err != nil || len(o.Targets) == 0 {
		return err
	}
	if err := p.fit(o.width()); err != nil {
		return err
	}
	for i, v := range o.Predicted {
		if t := o.Targets[i]; v != v && t == t {
			return fmt.Errorf("item %d: the prediction is NaN, which has no rank", i/o.width())
		}
	}
	return o.each(p.pair)
}

func (p *pairs) pair(column int, predicted, target float64) {
	c := &p.columns[column]
	if p.inCells() {
		c.count(predicted, target, 1)
		return
	}
	c.predicted = append(c.predicted, predicted)
	c.targets = append(c.targets, target)
	if p.kept++; p.kept > p.limit {
		for i := range p.columns {
			p.columns[i].divide()
		}
	}
}

func (c *paired) divide() {
	c.predictedEdges = slices.Compact(quantiles(slices.Clone(c.predicted), sideCells))
	c.targetsEdges = slices.Compact(quantiles(slices.Clone(c.targets), sideCells))
	c.cells = make([]int64, cells)
	for i, v := range c.predicted {
		c.count(v, c.targets[i], 1)
	}
	c.predicted, c.targets = nil, nil
}

// count adds n to the count of the cell in which the pair of predicted and target is. Values below
// the first edge are in the first row or column.
func (c *paired) count(predicted, target float64, n int64) {
	cell := func(edges []float64, v float64) int {
		return max(0, sort.Search(len(edges), func(i int) bool { return edges[i] > v })-1)
	}
	c.cells[cell(c.targetsEdges, target)*sideCells+cell(c.predictedEdges, predicted)] += n
}

func (p *pairs) value() float64 {
	if len(p.columns) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i := range p.columns {
		sum += p.columns[i].correlation()
	}
	return sum / float64(len(p.columns))
}

// correlation returns the rank correlation. Values in one cell count as ties.
func (c *paired) correlation() float64 {
	var m moment
	if c.cells == nil {
		x, y := ranks(c.predicted), ranks(c.targets)
		for i := range x {
			m.add(x[i], y[i])
		}
		return m.correlation()
	}
	x, y := make([]int64, sideCells), make([]int64, sideCells)
	for i, n := range c.cells {
		x[i%sideCells] += n
		y[i/sideCells] += n
	}
	rankX, rankY := middles(x), middles(y)
	for i, n := range c.cells {
		m.merge(moment{n: float64(n), predicted: rankX[i%sideCells], target: rankY[i/sideCells]})
	}
	return m.correlation()
}

// ranks returns the rank of each value, from 1. Ties get the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return values[order[i]] < values[order[j]] })
	list := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			list[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return list
}

// middles returns the mean rank of the values in each cell. The cells are in increasing order, and cell i
// has n[i] values.
func middles(n []int64) []float64 {
	list := make([]float64, len(n))
	below := 0.0
	for i, k := range n {
		list[i] = below + (float64(k)+1)/2
		below += float64(k)
	}
	return list
}

// merge adds the pairs of o. If both tallies have cells, a pair in a cell of o counts as the lower bounds of
// that cell.
func (p *pairs) merge(o *pairs) error {
	if len(o.columns) == 0 {
		return nil
	}
	if err := p.fit(len(o.columns)); err != nil {
		return err
	}
	if o.inCells() && !p.inCells() {
		own := *p
		*p = pairs{limit: p.limit, columns: slices.Clone(o.columns)}
		for i := range p.columns {
			p.columns[i].cells = slices.Clone(p.columns[i].cells)
		}
		o = &own
	}
	for i, c := range o.columns {
		for j, v := range c.predicted {
			p.pair(i, v, c.targets[j])
		}
		for at, n := range c.cells {
			if n > 0 {
				p.columns[i].count(c.predictedEdges[at%sideCells], c.targetsEdges[at/sideCells], n)
			}
		}
	}
	return nil
}

// numbers returns the tally for a saved state. The first integer is the number of columns. For each column there
// follow three numbers: how many pairs it has, how many edges its predictions have, and how many edges its targets
// have. The counts of its cells follow them. The floats are the pairs and the edges of each column.
func (p *pairs) numbers() numbers {
	n := numbers{ints: []int64{int64(len(p.columns))}}
	for _, c := range p.columns {
		n.ints = append(n.ints, int64(len(c.predicted)), int64(len(c.predictedEdges)), int64(len(c.targetsEdges)))
		n.ints = append(n.ints, c.cells...)
		n.floats = slices.Concat(n.floats, c.predicted, c.targets, c.predictedEdges, c.targetsEdges)
	}
	return n
}

func (p *pairs) restore(n numbers) error {
	head, ok := take(&n.ints, 1)
	if !ok || head[0] > int64(len(n.ints)) || slices.ContainsFunc(n.floats, math.IsNaN) {
		return errSaved
	}
	p.columns = make([]paired, head[0])
	for i := range p.columns {
		c := &p.columns[i]
		sizes, ok := take(&n.ints, 3)
		if !ok {
			return errSaved
		}
		var oks [5]bool
		c.predicted, oks[0] = take(&n.floats, sizes[0])
		c.targets, oks[1] = take(&n.floats, sizes[0])
		c.predictedEdges, oks[2] = take(&n.floats, sizes[1])
		c.targetsEdges, oks[3] = take(&n.floats, sizes[2])
		oks[4] = true
		if sizes[1] > 0 {
			c.cells, oks[4] = take(&n.ints, cells)
		}
		if oks != [5]bool{true, true, true, true, true} || !c.valid() || (c.cells == nil) != (p.columns[0].cells == nil) {
			return errSaved
		}
		p.kept += len(c.predicted)
	}
	if len(n.ints)+len(n.floats) > 0 {
		return errSaved
	}
	return nil
}

// valid reports whether a column that was read from a state is consistent: it has pairs and no
// cells, or cells between sorted edges and no pairs.
func (c *paired) valid() bool {
	if c.cells == nil {
		return len(c.targetsEdges) == 0
	}
	for at, n := range c.cells {
		if n > 0 && (at%sideCells >= len(c.predictedEdges) || at/sideCells >= len(c.targetsEdges)) {
			return false
		}
	}
	if len(c.predictedEdges) > sideCells || len(c.targetsEdges) > sideCells {
		return false
	}
	return len(c.predicted) == 0 && slices.IsSorted(c.predictedEdges) && slices.IsSorted(c.targetsEdges)
}
