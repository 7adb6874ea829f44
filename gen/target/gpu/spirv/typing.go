package spirv

import (
	"strconv"
	"strings"
)

// onInts, onFloats and onBools list the instructions whose operands and result have one type: an integer, a float or
// a bool. ofInts and ofFloats list the comparisons whose operands are integers or floats.
const (
	onInts    = " SNegate IAdd ISub IMul UDiv SDiv UMod BitwiseOr BitwiseXor BitwiseAnd Not "
	onFloats  = " FNegate FAdd FSub FMul FDiv "
	onBools   = " LogicalEqual LogicalNotEqual LogicalOr LogicalAnd LogicalNot "
	ofInts    = " IEqual INotEqual UGreaterThan SGreaterThan UGreaterThanEqual SGreaterThanEqual ULessThan SLessThan ULessThanEqual SLessThanEqual "
	ofFloats  = " FOrdEqual FUnordNotEqual FOrdLessThan FOrdGreaterThan FOrdLessThanEqual FOrdGreaterThanEqual "
	shifts    = " ShiftRightLogical ShiftRightArithmetic ShiftLeftLogical "
	atomicOps = " AtomicLoad AtomicExchange AtomicCompareExchange AtomicIAdd AtomicSMin AtomicUMin AtomicSMax AtomicUMax AtomicAnd AtomicOr "
	glslSet   = " 2 3 4 8 9 31 50 "
)

func among(list, name string) bool { return strings.Contains(list, " "+name+" ") }

// conversionKinds maps conversions to the kinds of the operand and the result.
var conversionKinds = map[string][2]string{
	"ConvertFToU": {"Float", "Int"}, "ConvertFToS": {"Float", "Int"}, "ConvertSToF": {"Int", "Float"}, "ConvertUToF": {"Int", "Float"},
	"UConvert": {"Int", "Int"}, "SConvert": {"Int", "Int"}, "FConvert": {"Float", "Float"},
}

func (c *checker) of(id uint32) kind { return c.types[c.defined[id].typ] }

func (c *checker) operands(in *instruction) error {
	if strings.Contains(in.operands, "t") && (c.types[in.typ].name == "" || c.types[in.typ].name == "Void") {
		return in.wrong("%%%d is not the type of a value", in.typ)
	}
	t := c.types[in.typ]
	alike := func(kind string) error { // operands and result
		if t.name != kind || t.bits != 0 && t.bits < 32 {
			return in.wrong("its type is not a %s to compute with", kind)
		}
		return c.operandsAre(in, in.ids, in.typ)
	}
	compared := func(kind string) error {
		first := c.of(in.ids[0])
		if t.name != "Bool" || first.name != kind || first.bits < 32 {
			return in.wrong("it does not compare %s", kind)
		}
		return c.operandsAre(in, in.ids, c.defined[in.ids[0]].typ)
	}
	switch name := in.name; {
	case among(onInts, name):
		return alike("Int")
	case among(onFloats, name):
		return alike("Float")
	case among(onBools, name):
		return alike("Bool")
	case among(ofInts, name):
		return compared("Int")
	case among(ofFloats, name):
		return compared("Float")
	case among(shifts, name):
		if t.name != "Int" || t.bits < 32 || c.of(in.ids[1]).name != "Int" {
			return in.wrong("it does not shift integers")
		}
		return c.operandsAre(in, in.ids[:1], in.typ)
	case among(atomicOps, name):
		return c.atomic(in)
	case conversionKinds[name][0] != "":
		from := c.of(in.ids[0])
		want := conversionKinds[name]
		if from.name != want[0] || t.name != want[1] || want[0] == want[1] && from.bits == t.bits || want[0] != want[1] && (from.bits < 32 || t.bits < 32) {
			return in.wrong("it converts %s of %d bits to %s of %d", from.name, from.bits, t.name, t.bits)
		}
		return nil
	}
	switch in.name {
	case "Select":
		if c.of(in.ids[0]).name != "Bool" {
			return in.wrong("the condition is not bool")
		}
		return c.operandsAre(in, in.ids[1:], in.typ)
	case "Bitcast":
		from := c.of(in.ids[0])
		if t.name == "Pointer" {
			if !c.isHalves(from) || t.class != physical || c.types[t.of].name != "Struct" {
				return in.wrong("it does not make a pointer to a structure in physical memory of two words")
			}
			if e := c.types[c.types[c.types[t.of].members[0]].of]; e.bits == 8 && !c.capabilities[39] || e.bits == 16 && !c.capabilities[22] {
				return in.wrong("it makes a pointer to elements of %d bits, and no capability allows integers of this width", e.bits)
			}
			return nil
		}
		if c.bitsIn(from) == 0 || c.bitsIn(from) != c.bitsIn(t) || c.defined[in.ids[0]].typ == in.typ {
			return in.wrong("it casts %d bits to %d, or to the same type", c.bitsIn(from), c.bitsIn(t))
		}
	case "ExtInst":
		arguments := in.ids[1:]
		arity := 1
		if in.literals[0] == 50 {
			arity = 3
		}
		if c.defined[in.ids[0]].name != "ExtInstImport" || !among(glslSet, strconv.Itoa(int(in.literals[0]))) || t.name != "Float" || len(arguments) != arity {
			return in.wrong("unknown function %d of %d operands", in.literals[0], len(arguments))
		}
		return c.operandsAre(in, arguments, in.typ)
	case "CompositeConstruct":
		if t.name != "Vector" || len(in.ids) != t.n {
			return in.wrong("%d values do not make a vector of %d", len(in.ids), t.n)
		}
		return c.operandsAre(in, in.ids, t.of)
	case "CompositeExtract":
		if v := c.of(in.ids[0]); v.name != "Vector" || int(in.literals[0]) >= v.n || v.of != in.typ {
			return in.wrong("it does not extract an element of a vector")
		}
	case "AccessChain":
		return c.chain(in)
	case "Load":
		return c.access(in, in.ids[0], in.typ)
	case "Store":
		return c.access(in, in.ids[0], c.defined[in.ids[1]].typ)
	case "Phi":
		for i := 0; i < len(in.ids); i += 2 {
			if err := c.operandsAre(in, in.ids[i:i+1], in.typ); err != nil {
				return err
			}
		}
	case "ControlBarrier":
		execution, ok := c.whole(in.ids[0])
		memory, alsoOK := c.whole(in.ids[1])
		semantics, andOK := c.whole(in.ids[2])
		if !ok || !alsoOK || !andOK || execution != 2 || memory != 2 || semantics&^0x140 != 8 {
			return in.wrong("it is not a barrier of a block that acquires and releases")
		}
	case "BranchConditional":
		if c.of(in.ids[0]).name != "Bool" {
			return in.wrong("the condition is not bool")
		}
	}
	return nil
}

// bitsIn returns the width in bits of a number. It is 64 for a vector of two words, and 0 for other types.
func (c *checker) bitsIn(k kind) int {
	if c.isHalves(k) {
		return 64
	}
	return k.bits
}

func (c *checker) operandsAre(in *instruction, ids []uint32, typ uint32) error {
	for _, id := range ids {
		if c.defined[id].typ != typ {
			return in.wrong("%%%d is not of the type %%%d", id, typ)
		}
	}
	return nil
}

// access checks that a load or store goes through a pointer to type typ, is aligned, and does not
// write read-only memory.
func (c *checker) access(in *instruction, pointer, typ uint32) error {
	p := c.of(pointer)
	if p.name != "Pointer" || p.of != typ || typ == 0 {
		return in.wrong("%%%d is not a pointer to the type %%%d", pointer, typ)
	}
	switch m := in.literals; {
	case p.class == physical && (len(m) != 2 || m[0] != 2 || !isPowerOfTwo(m[1]) || int(m[1]) < c.bytes(typ)):
		return in.wrong("it is not aligned to a power of two that its elements fill")
	case p.class != physical && len(m) != 0:
		return in.wrong("it has memory operands")
	case in.name == "Store" && (p.class == input || p.class == pushed):
		return in.wrong("the memory is only read")
	}
	return nil
}

// chain checks the computation of a pointer to a member or element.
func (c *checker) chain(in *instruction) error {
	p, t := c.of(in.ids[0]), c.types[in.typ]
	if p.name != "Pointer" || t.name != "Pointer" || p.class != t.class {
		return in.wrong("it does not make a pointer from one of its class")
	}
	at := p.of
	for _, id := range in.ids[1:] {
		k := c.types[at]
		n, known := c.whole(id)
		switch {
		case c.of(id).name != "Int":
			return in.wrong("%%%d is not an index", id)
		case k.name == "RuntimeArray":
			at = k.of
		case k.name == "Array" || k.name == "Vector":
			if known && n >= uint64(k.n) {
				return in.wrong("the index %d is past the end", n)
			}
			at = k.of
		case k.name == "Struct" && known && n < uint64(len(k.members)):
			at = k.members[n]
		default:
			return in.wrong("%%%d does not choose a part", id)
		}
	}
	if at != t.of {
		return in.wrong("it points to %%%d, not to %%%d", at, t.of)
	}
	return nil
}

func (c *checker) atomic(in *instruction) error {
	p, t := c.of(in.ids[0]), c.types[in.typ]
	switch {
	case p.name != "Pointer" || p.of != in.typ || t.name != "Int" || p.class != group && p.class != physical:
		return in.wrong("it is not on an integer in memory of the device or of the block")
	case t.bits != 32 && !(t.bits == 64 && c.capabilities[12]):
		return in.wrong("no capability allows %d bits", t.bits)
	}
	constants := in.ids[1:3]
	if in.name == "AtomicCompareExchange" {
		constants = in.ids[1:4]
	}
	for i, id := range constants {
		if n, ok := c.whole(id); !ok || i == 0 && n != 1 && n != 2 || i > 0 && n != 0 {
			return in.wrong("%%%d is not the scope of the device or block, or not relaxed", id)
		}
	}
	return c.operandsAre(in, in.ids[1+len(constants):], in.typ)
}
