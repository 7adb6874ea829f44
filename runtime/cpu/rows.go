package cpu

// rowTask is the state of a running normalisation of the rows of a matrix. Workers divide the rows
// among them. scale and bias may be nil.
type rowTask struct {
	kind        rowKind
	dst, src    []float32
	scale, bias []float32
	n           int // elements of a row
	eps         float32
}

type rowKind int

const (
	layerNorms rowKind = iota
	rmsNorms
	softmaxes
	logSoftmaxes
)

var rowTasks slot[rowTask, *rowTask]

// share processes all rows, in parts if that is worthwhile.
func (t *rowTask) share() {
	const work = 24 // multiply-adds that take as long as an element
	if t.n > 0 && !rowTasks.run(t, min(partsFor(work*int64(len(t.src)), 0), len(t.src)/t.n)) {
		t.Part(0, 1)
	}
}

func (t *rowTask) Part(i, parts int) {
	from, to := portion(len(t.src)/t.n, i, parts)
	dst, src := t.dst[from*t.n:to*t.n], t.src[from*t.n:to*t.n]
	switch t.kind {
	case layerNorms:
		if !layerNormFast(dst, src, t.scale, t.bias, t.n, t.eps) {
			layerNormRef(dst, src, t.scale, t.bias, t.n, t.eps)
		}
	case rmsNorms:
		if !rmsNormFast(dst, src, t.scale, t.n, t.eps) {
			rmsNormRef(dst, src, t.scale, t.n, t.eps)
		}
	case softmaxes:
		if !softmaxFast(dst, src, t.n) {
			softmaxRef(dst, src, t.n)
		}
	case logSoftmaxes:
		if !logSoftmaxFast(dst, src, t.n) {
			logSoftmaxRef(dst, src, t.n)
		}
	}
}
