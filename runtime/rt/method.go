package rt

// Method describes a method of a generated Session or Trainer. It is the same for all calls.
type Method struct {
	// Name begins the errors of the method, such as "digits: Forward".
	Name string
	// Symbols are the symbolic extents of the arguments.
	Symbols []string
	// Fixed is the size of the arena in bytes without symbols. Each[i] bytes are added for every
	// unit of symbol i. A nil Each adds nothing.
	Fixed int64
	Each  []int64
	// Buffers are placed in the arena when the extents are known, in place of Fixed and Each. The
	// buffers of the functions that the method calls come first, then the method's own. Layout is
	// the function [Layout], which places them; programs that do not need it do not link it.
	Buffers []Buffers
	Layout  func(bytes []int64, first, last []int32, offsets []int64) int64
	// Serial says that no kernel of the method is worth splitting between threads.
	Serial bool
	// Unbound says that the shapes of the arguments do not bind every symbol. Generated code then
	// calls [Memory.Open] after [Enter], when all symbols are bound.
	Unbound bool

	// Ends[i] is the place in the backward pass after which the gradient of variable i is complete.
	// Places count from 1; 0 means that the method does not compute the gradient. Ends is nil if
	// the method does not train.
	Ends []int
	// Updates are the variables that the method gives new values, such as running statistics.
	Updates []int
	// Backward begins the errors of the method's second half. It is "" for a method that computes
	// its gradients at once.
	Backward string
}

// Buffers describes the buffers of one function in an arena whose layout depends on the extents of
// a call.
type Buffers struct {
	// Fixed are the parts of the buffers' sizes that do not depend on extents, in bytes. Each[i]
	// holds the bytes that are added to the sizes for every unit of extent i; a nil list adds
	// nothing. The extents are the method's symbols, followed by the sizes of the functions before
	// this one in [Method.Buffers], in units of 64 bytes.
	Fixed []int64
	Each  [][]int64
	// Bytes, if not nil, computes the sizes in place of Fixed and Each.
	Bytes func(z *Sizes, extents, bytes []int64)
	// First and Last are the steps at which each buffer is first written and last read.
	First, Last []int32
}

// sizes stores the size of each buffer, for the given extents, in the slice `bytes`. z records
// overflows.
func (b *Buffers) sizes(z *Sizes, extents, bytes []int64) {
	if b.Bytes != nil {
		b.Bytes(z, extents, bytes)
		return
	}
	clear(bytes)
	copy(bytes, b.Fixed)
	for i, each := range b.Each {
		for k, unit := range each {
			bytes[k] = z.Add(z.Mul(unit, extents[i]), bytes[k])
		}
	}
}

func (m *Method) trains() bool { return m.Ends != nil }

func (m *Method) isFixed() bool { return m.Each == nil && m.Buffers == nil }
