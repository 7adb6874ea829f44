package cpu

// These constants describe a room. A room is a buffer for rows of planes with their padding. It
// stays in a first-level cache.
const (
	roomLen  = 6 << 10 // elements
	roomTaps = 128     // taps that a window over a room may have
)

// phases describes how a room, a buffer in a near cache, holds a row of the input. Elements whose
// columns are equal modulo the stride are adjacent; they are called a phase. In this layout, a tap
// has the same distance from every output of a row.
type phases struct {
	stride     int
	phase, row int // elements of a phase and of a row
}

// newPhases returns the phases of a row with n outputs. The windows of the outputs extend `reach`
// columns beyond their first column.
func newPhases(n, reach, stride int) phases {
	phase := n + reach/stride + 1
	return phases{stride, phase, phase * stride}
}

// tap returns the distance, in elements of a row, from the first column of a window to column
// number `column` of the window.
func (p *phases) tap(column int) int { return column%p.stride*p.phase + column/p.stride }

// spread stores adjacent elements of a row in their phases. column is the column of src[0].
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

// windowsAtOnce returns how many adjacent outputs of a row have windows that together fit a room,
// which is a buffer of roomLen elements. The windows have `depth` rows. They extend `reach` columns
// beyond their first column.
func windowsAtOnce(depth, reach, stride int) int { return roomLen/depth/stride - reach/stride - 1 }
