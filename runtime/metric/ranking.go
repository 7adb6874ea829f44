package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

const (
	// mostScores is the largest number of scores that a ranking keeps. A ranking of more scores
	// counts them in bins.
	mostScores = 1_000_000
	// allBins limits the number of bounds between bins. A class has at most allBins/n bounds, where n is the
	// number of classes.
	allBins = 1 << 16
	// leastBins is the limit for a class if allBins/n is smaller.
	leastBins = 1 << 10
)

// ranking keeps the scores of several classes. A score of an item that has the class is called positive, any
// other score negative. All scores are kept up to a limit. Beyond it, each class only counts its scores in
// bins. Half of the bounds of the bins are quantiles of its positive scores, and half are quantiles of its
// negative scores.
type ranking struct {
	// the largest number of scores that are kept
	limit int
	// the number of scores, as long as all are kept
	scores  int
	classes []ranked
	row     []float64 // scratch
}

// ranked is the scores of one class, or their counts in bins.
type ranked struct {
	positive, negative []float64
	// edges are the bounds of bins in increasing order. Bin i holds the scores from edges[i-1] to
	// below edges[i].
	edges []float64
	// for each bin, the count of positive scores and then the count of negative scores
	bins []int64
}

func newRanking() *ranking { return &ranking{limit: mostScores} }

func (r *ranking) binned() bool { return len(r.classes) > 0 && r.classes[0].bins != nil }

// fit allocates memory when it is first called, for the number of classes of the first output. It returns an
// error if a later output has another number of classes.
func (r *ranking) fit(classes int) error {
	if len(r.classes) == 0 {
		r.classes = make([]ranked, classes)
	}
	return sameClasses(classes, len(r.classes))
}

func (r *ranking) add(class int, score float64, positive bool) {
	c := &r.classes[class]
	if r.binned() {
		c.count(score, positive, 1)
		return
	}
	if positive {
		c.positive = append(c.positive, score)
	} else {
		c.negative = append(c.negative, score)
	}
	if r.scores++; r.scores > r.limit {
		r.bin()
	}
}

func (r *ranking) bin() {
	n := max(allBins/len(r.classes), leastBins)
	for i := range r.classes {
		c := &r.classes[i]
		c.edges = append(quantiles(c.positive, n/2), quantiles(c.negative, n/2)...)
		slices.Sort(c.edges)
		c.edges = slices.Compact(c.edges)
		c.bins = make([]int64, 2*(len(c.edges)+1))
		for _, s := range c.positive {
			c.count(s, true, 1)
		}
		for _, s := range c.negative {
			c.count(s, false, 1)
		}
		c.positive, c.negative = nil, nil
	}
}

// quantiles sorts scores and returns n of them, at equal distances in the sorted order. The first one is the
// smallest score. If there are fewer than n scores, it returns all.
func quantiles(scores []float64, n int) []float64 {
	slices.Sort(scores)
	k := min(n, len(scores))
	list := make([]float64, k)
	for i := range list {
		list[i] = scores[int64(i)*int64(len(scores))/int64(k)]
	}
	return list
}

// count adds n equal scores to their bin.
func (c *ranked) count(score float64, positive bool, n int64) {
	at := 2 * sort.Search(len(c.edges), func(i int) bool { return c.edges[i] > score })
	if !positive {
		at++
	}
	c.bins[at] += n
}

// groups yields the numbers of positive and of negative scores in each group of scores, in descending order.
// A group is the scores in one bin or, without bins, the scores that are equal.
func (c *ranked) groups(yield func(positive, negative float64) bool) {
	if c.bins != nil {
		for at := len(c.bins) - 2; at >= 0; at -= 2 {
			if c.bins[at]+c.bins[at+1] > 0 && !yield(float64(c.bins[at]), float64(c.bins[at+1])) {
				return
			}
		}
		return
	}
	down := func(a, b float64) int { return cmp.Compare(b, a) }
	slices.SortFunc(c.positive, down)
	slices.SortFunc(c.negative, down)
	for p, n := 0, 0; p < len(c.positive) || n < len(c.negative); {
		score := math.Inf(-1)
		if p < len(c.positive) {
			score = c.positive[p]
		}
		if n < len(c.negative) {
			score = max(score, c.negative[n])
		}
		fromP, fromN := p, n
		for p < len(c.positive) && c.positive[p] == score {
			p++
		}
		for n < len(c.negative) && c.negative[n] == score {
			n++
		}
		if !yield(float64(p-fromP), float64(n-fromN)) {
			return
		}
	}
}

func (c *ranked) totals() (positive, negative float64) {
	positive, negative = float64(len(c.positive)), float64(len(c.negative))
	for at := 0; at < len(c.bins); at += 2 {
		positive += float64(c.bins[at])
		negative += float64(c.bins[at+1])
	}
	return positive, negative
}

// mean returns the mean of f over the classes for which it is not NaN. It returns NaN if there is no
// such class.
func (r *ranking) mean(f func(*ranked) float64) float64 {
	var m mean
	for i := range r.classes {
		if v := f(&r.classes[i]); !math.IsNaN(v) {
			m.add(v)
		}
	}
	return m.value()
}

// kept returns "exact" if all scores are kept, else the number of bins.
func (r *ranking) kept() string {
	if !r.binned() {
		return "exact"
	}
	n := 0
	for _, c := range r.classes {
		n += len(c.bins) / 2
	}
	return fmt.Sprintf("%d bins", n)
}

// addClasses adds the scores of an output of classes. If there are more than two classes, it adds the
// probability of each class. If there are two, it adds one score for each item; these scores have the same
// order as the probabilities of class 1.
func (r *ranking) addClasses(o Classes) error {
	k, err := o.classes()
	if err != nil || k == 0 {
		return err
	}
	if k == 2 {
		k = 1
	}
	if err := r.fit(k); err != nil {
		return err
	}
	if cap(r.row) < k {
		r.row = make([]float64, k)
	}
	return o.each(func(target int, row []float32) error {
		switch {
		case len(row) == 1:
			r.add(0, float64(row[0]), target == 1)
			return nil
		case len(row) == 2 && o.Kind == Logits:
			odds := float64(row[1]) - float64(row[0])
			if row[1] == row[0] {
				odds = 0 // of equal infinities too
			}
			r.add(0, odds, target == 1)
			return nil
		case len(row) == 2:
			r.add(0, float64(row[1]), target == 1)
			return nil
		}
		o.Kind.softmax(r.row[:k], row)
		for class, p := range r.row[:k] {
			r.add(class, p, class == target)
		}
		return nil
	})
}

// addLabels adds the scores of an output of labels. Unknown targets do not count.
func (r *ranking) addLabels(o Labels) error {
	return o.each(func(scores, targets []float32) error {
		if err := r.fit(len(targets)); err != nil {
			return err
		}
		for k, t := range targets {
			if t == t {
				r.add(k, float64(scores[k]), t == 1)
			}
		}
		return nil
	})
}

// merge adds the scores of o. If both rankings have bins, a score in a bin of o counts as the lower bound of
// that bin.
func (r *ranking) merge(o *ranking) error {
	if len(o.classes) == 0 {
		return nil
	}
	if err := r.fit(len(o.classes)); err != nil {
		return err
	}
	if o.binned() && !r.binned() {
		own := *r
		*r = ranking{limit: r.limit, classes: make([]ranked, len(o.classes))}
		for i, c := range o.classes {
			r.classes[i] = ranked{edges: c.edges, bins: slices.Clone(c.bins)}
		}
		o = &own
	}
	for i, c := range o.classes {
		for _, s := range c.positive {
			r.add(i, s, true)
		}
		for _, s := range c.negative {
			r.add(i, s, false)
		}
		for at := 0; at < len(c.bins); at += 2 {
			score := math.Inf(-1)
			if at > 0 {
				score = c.edges[at/2-1]
			}
			r.classes[i].count(score, true, c.bins[at])
			r.classes[i].count(score, false, c.bins[at+1])
		}
	}
	return nil
}

// numbers returns the tally for a saved state. The first integer is the number of classes. For each class there
// follow three numbers: how many positive scores, negative scores and bins it has. Two counts for each of its bins
// follow them. The floats are, for each class, the positive scores, the negative scores and the edges of the bins.
func (r *ranking) numbers() numbers {
	n := numbers{ints: []int64{int64(len(r.classes))}}
	for _, c := range r.classes {
		n.ints = append(n.ints, int64(len(c.positive)), int64(len(c.negative)), int64(len(c.bins)/2))
		n.ints = append(n.ints, c.bins...)
		n.floats = slices.Concat(n.floats, c.positive, c.negative, c.edges)
	}
	return n
}

func (r *ranking) restore(n numbers) error {
	head, ok := take(&n.ints, 1)
	if !ok || head[0] > int64(len(n.ints)) || slices.ContainsFunc(n.floats, math.IsNaN) {
		return errSaved
	}
	r.classes = make([]ranked, head[0])
	for i := range r.classes {
		c := &r.classes[i]
		sizes, ok := take(&n.ints, 3)
		if !ok || sizes[2] > int64(len(n.ints)) {
			return errSaved
		}
		var oks [4]bool
		c.bins, oks[0] = take(&n.ints, 2*sizes[2])
		c.positive, oks[1] = take(&n.floats, sizes[0])
		c.negative, oks[2] = take(&n.floats, sizes[1])
		c.edges, oks[3] = take(&n.floats, max(0, sizes[2]-1))
		if oks != [4]bool{true, true, true, true} || !slices.IsSorted(c.edges) {
			return errSaved
		}
		if sizes[2] == 0 {
			c.bins, c.edges = nil, nil
		}
		r.scores += len(c.positive) + len(c.negative)
		if (c.bins == nil) != (r.classes[0].bins == nil) || c.bins != nil && len(c.positive)+len(c.negative) > 0 {
			return errSaved
		}
	}
	if len(n.ints)+len(n.floats) > 0 {
		return errSaved
	}
	return nil
}
