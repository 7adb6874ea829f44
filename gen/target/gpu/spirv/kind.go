package spirv

import "math/bits"

type kind struct {
	name    string   // "Void", "Bool", "Int", "Float", "Vector", "Array", "RuntimeArray", "Struct", "Pointer", "Function"
	bits    int      // of integers and floats
	of      uint32   // the type of elements, or what a pointer points to
	n       int      // elements of a vector or array
	class   uint32   // of a pointer
	members []uint32 // of a structure
}

const (
	input    = 1
	group    = 4
	pushed   = 9
	physical = 5349
)

func (c *checker) typ(in *instruction) error {
	k := kind{name: in.name[len("Type"):]}
	switch k.name {
	case "Int", "Float":
		k.bits = int(in.literals[0])
		if err := c.width(in, k); err != nil {
			return err
		}
	case "Vector", "Array":
		k.of = in.ids[0]
		if k.name == "Array" {
			length, ok := c.whole(in.ids[1])
			if !ok || length == 0 {
				return in.wrong("the length is not a constant above 0")
			}
			k.n = int(length)
		} else if k.n = int(in.literals[0]); k.n < 2 || k.n > 4 {
			return in.wrong("a vector has %d elements", k.n)
		}
		if e := c.types[k.of]; k.name == "Vector" && e.name != "Int" && e.name != "Float" || e.name == "" || e.name == "Void" {
			return in.wrong("%%%d is not a type of elements", k.of)
		}
	case "RuntimeArray":
		k.of = in.ids[0]
		if err := c.stride(in, k); err != nil {
			return err
		}
	case "Struct":
		k.members = in.ids
		for i, id := range k.members {
			m := c.types[id]
			if m.name != "Int" && m.name != "Float" && !c.isHalves(m) && !(m.name == "RuntimeArray" && len(k.members) == 1) {
				return in.wrong("member %d is not a number, and not the only array", i)
			}
		}
		if err := c.block(in, k); err != nil {
			return err
		}
	case "Pointer":
		k.of, k.class = in.ids[0], in.literals[0]
		if c.types[k.of].name == "" {
			return in.wrong("%%%d is not a type", k.of)
		}
		if err := c.stored(in, k); err != nil {
			return err
		}
	case "Function":
		if c.types[in.ids[0]].name != "Void" {
			return in.wrong("it returns something")
		}
	}
	for id, other := range c.types {
		if k.name != "Struct" && k.name != "Array" && equal(k, other) {
			return in.wrong("%%%d is the same type", id)
		}
	}
	c.types[in.result] = k
	return nil
}

func equal(x, y kind) bool {
	return x.name == y.name && x.bits == y.bits && x.of == y.of && x.n == y.n && x.class == y.class
}

// width checks the width of a type of numbers, and that the capability for it is declared.
func (c *checker) width(in *instruction, k kind) error {
	ok := false
	switch {
	case k.name == "Int" && in.literals[1] != 0:
		return in.wrong("integers must be without a sign")
	case k.bits == 32:
		ok = true
	case k.name == "Int" && k.bits == 64:
		ok = c.capabilities[11]
	case k.name == "Float" && k.bits == 64:
		ok = c.capabilities[10]
	case k.name == "Int" && k.bits == 8:
		ok = c.capabilities[39] || c.capabilities[4448]
	case k.name == "Int" && k.bits == 16:
		ok = c.capabilities[22] || c.capabilities[4433]
	}
	if !ok {
		return in.wrong("no capability allows %d bits", k.bits)
	}
	return nil
}

// isHalves reports whether a type is a vector of two words of 32 bits. Addresses are loaded as such vectors.
func (c *checker) isHalves(k kind) bool {
	return k.name == "Vector" && k.n == 2 && c.types[k.of].name == "Int" && c.types[k.of].bits == 32
}

// stride checks an array without a length. It returns an error if the elements are neither numbers nor vectors, or if
// the array's stride is not the size of an element.
func (c *checker) stride(in *instruction, k kind) error {
	e, n := c.types[k.of], 1
	if e.name == "Vector" {
		e, n = c.types[e.of], e.n
	}
	if e.name != "Int" && e.name != "Float" {
		return in.wrong("its elements are not numbers or vectors")
	}
	for _, d := range c.decorations[in.result] {
		if d.literals[0] == 6 && len(d.literals) == 2 && int(d.literals[1]) == n*e.bits/8 {
			return nil
		}
	}
	return in.wrong("it has no stride, or a wrong one")
}

// block checks that a structure is a Block and that its members have offsets.
func (c *checker) block(in *instruction, k kind) error {
	isBlock := false
	offsets := map[uint32]uint32{}
	for _, d := range c.decorations[in.result] {
		switch {
		case d.name == "Decorate" && d.literals[0] == 2:
			isBlock = true
		case d.name == "MemberDecorate" && d.literals[1] == 35 && len(d.literals) == 3:
			offsets[d.literals[0]] = d.literals[2]
		}
	}
	if !isBlock {
		return in.wrong("it is not a Block")
	}
	end := uint32(0)
	for i, id := range k.members {
		at, ok := offsets[uint32(i)]
		size := uint32(8) // of halves, and the alignment of an array
		if bits := c.types[id].bits; bits > 0 {
			size = uint32(bits / 8)
		}
		if !ok || at < end || at%size != 0 {
			return in.wrong("member %d has no offset, or a wrong one", i)
		}
		end = at + size
	}
	return nil
}

// stored checks that the storage class of the pointer type p may hold the type to which p points.
func (c *checker) stored(in *instruction, p kind) error {
	t := c.types[p.of]
	if t.name == "Struct" && len(t.members) == 1 {
		t = c.types[t.members[0]]
	}
	if t.name == "Array" || t.name == "RuntimeArray" || t.name == "Vector" {
		t = c.types[t.of]
	}
	if t.name == "Vector" {
		t = c.types[t.of]
	}
	if t.name == "Bool" || t.name == "Void" {
		return in.wrong("memory does not hold a %s", t.name)
	}
	ok := true
	switch {
	case p.class == input:
		ok = t.name == "Int" && t.bits == 32
	case p.class == group:
		ok = t.bits > 16 || t.bits == 8 && c.capabilities[39] || t.bits == 16 && c.capabilities[22]
	case p.class == physical:
		ok = t.name == "Struct" || t.bits > 16 || t.bits == 8 && c.capabilities[4448] || t.bits == 16 && c.capabilities[4433]
	case p.class == pushed:
		ok = t.name == "Struct" || t.bits > 16
	default:
		return in.wrong("unknown class of memory %d", p.class)
	}
	if !ok {
		return in.wrong("memory of class %d does not hold %s of %d bits", p.class, t.name, t.bits)
	}
	return nil
}

func (c *checker) constant(in *instruction) error {
	k := c.types[in.typ]
	switch {
	case in.name != "Constant" && k.name != "Bool":
		return in.wrong("its type is not bool")
	case in.name == "Constant" && (k.name != "Int" && k.name != "Float" || len(in.literals) != (k.bits+31)/32):
		return in.wrong("it has %d words for %s of %d bits", len(in.literals), k.name, k.bits)
	}
	return nil
}

func (c *checker) whole(id uint32) (n uint64, ok bool) {
	in := c.defined[id]
	if in.name != "Constant" || c.types[in.typ].name != "Int" {
		return 0, false
	}
	for i, w := range in.literals {
		n |= uint64(w) << (32 * i)
	}
	return n, true
}

func (c *checker) variable(in *instruction) error {
	k := c.types[in.typ]
	if k.name != "Pointer" || k.class != in.literals[0] || k.class == physical {
		return in.wrong("its type is not a pointer of class %d, or its class is not one of variables", in.literals[0])
	}
	t := c.types[k.of]
	switch k.class {
	case pushed:
		if t.name != "Struct" {
			return in.wrong("a push constant is not a structure")
		}
	case input:
		builtIn := false
		for _, d := range c.decorations[in.result] {
			builtIn = builtIn || d.literals[0] == 11 && len(d.literals) == 2 && (d.literals[1] == 26 || d.literals[1] == 27)
		}
		if !builtIn || t.name != "Vector" || t.n != 3 {
			return in.wrong("an input is not three indices that are built in")
		}
	}
	return nil
}

// bytes returns the size in bytes of a number, or of an element of a vector.
func (c *checker) bytes(typ uint32) int {
	t := c.types[typ]
	if t.name == "Vector" {
		t = c.types[t.of]
	}
	return t.bits / 8
}

func isPowerOfTwo(n uint32) bool { return bits.OnesCount32(n) == 1 }
