package cpu

// Rows of planes are copied, with their padding, to a room that stays in a first-level
// cache.
const (
	roomLen  = 6 << 10 // elements
	roomTaps = 128     // that a window over a room may have
)

// phases is how a row lies in a room: an element is in the phase of its column, which is
// the column modulo the stride, so that a tap is the same distance away from all outputs
// of a row.
type phases struct{ stride, phase, row int } // the elements of a phase and of a row

// newPhases is for n outputs of a row whose windows reach so many columns beyond their first.
func newPhases(n, reach, stride int) phases {
	phase := n + reach/stride + 1
	return phases{stride, phase, phase * stride}
}

// tap is how many elements an output's tap, so many columns after its first, is away from it.
func (p *phases) tap(column int) int { return column%p.stride*p.phase + column/p.stride }

// spread puts a run of elements, the first of which is in some column, into their phases.
func (p *phases) spread(row, src []float32, column int) {
	switch p.stride {
	case 1:
		copy(row[column:], src)
	case 2:
		even, odd := row[column/2:p.phase], row[p.phase+column/2:]
		if column%2 != 0 {
			even, odd = odd, row[column/2+1:p.phase]
		}
		splitPairs(even, odd, src)
	default:
		for phase := range p.stride {
			to := row[phase*p.phase:][:p.phase]
			at := (phase - column) % p.stride
			if at < 0 {
				at += p.stride
			}
			for j := (column + at) / p.stride; at < len(src); j++ {
				to[j] = src[at]
				at += p.stride
			}
		}
	}
}

// windowsAtOnce is how many outputs of a row a room has space for at once, with windows of
// so many rows that reach so many columns beyond their first.
func windowsAtOnce(depth, reach, stride int) int { return roomLen/depth/stride - reach/stride - 1 }
