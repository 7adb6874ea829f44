package dim

import "errors"

type fault uint8

const (
	noFault fault = iota
	badSymbol
	tooComplex
	zeroDivisor
	overflow
)

// faults holds the printed words of poisoned Dims, which are not valid symbols, and their errors.
var faults = [...]struct {
	word string
	err  error
}{
	noFault:     {},
	badSymbol:   {"bad_symbol", errors.New("dim: symbol name is not an identifier")},
	tooComplex:  {"too_complex", errors.New("dim: expression is too complex")},
	zeroDivisor: {"zero_divisor", errors.New("dim: division by zero")},
	overflow:    {"overflow", errors.New("dim: integer overflow")},
}

func poison(f fault) Dim { return Dim{p: &poly{fault: f}} }

// IsReserved reports whether a poisoned Dim prints word. Such a word is not a valid symbol.
func IsReserved(word string) bool { return faultNamed(word) != noFault }

func faultNamed(word string) fault {
	for f := badSymbol; f <= overflow; f++ {
		if faults[f].word == word {
			return f
		}
	}
	return noFault
}

func (d Dim) fault() fault {
	if d.p == nil {
		return noFault
	}
	return d.p.fault
}

// Err returns the reason why d is poisoned, or nil.
func (d Dim) Err() error { return faults[d.fault()].err }

// Overflow reports whether d is poisoned, for any reason; see [Dim.Err].
func (d Dim) Overflow() bool { return d.fault() != noFault }
