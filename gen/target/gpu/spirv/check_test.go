package spirv

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// words returns a module as words.
func words(code []byte) []uint32 {
	out := make([]uint32, len(code)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	return out
}

// TestCheckTakesWhatIsWritten checks the kernels of all trials, one by one and in one module.
func TestCheckTakesWhatIsWritten(t *testing.T) {
	for _, o := range options {
		var all []*kernel.Kernel
		for _, c := range trialsOf(o.Options) {
			all = append(all, c.k)
			if err := Check(words(c.write(t, o.Options))); err != nil {
				t.Errorf("%s with %s: %v", c.name, o.name, err)
			}
		}
		code, err := o.Write(all...)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(words(code)); err != nil {
			t.Errorf("all with %s: %v", o.name, err)
		}
	}
}

// sample is a module with one of most things.
func sample(t *testing.T) []uint32 {
	k := build("sample", []int{64}, func(b *kernel.Builder) {
		b.Doc("a kernel with one of most things")
		x, y, out, n := b.Pointer("x", ir.F32), b.Pointer("y", ir.U8), b.Pointer("out", ir.F32), b.Scalar("n", ir.I32)
		tile := b.Shared("tile", ir.F32, 64)
		i := b.Global(0)
		b.Store(tile, b.Thread(0), b.Load(x, b.Convert(ir.I64, i)))
		b.Barrier()
		sum := b.Times(n, []*kernel.Value{b.Float(ir.F32, 0)}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return b.If(b.Lt(j, i),
				func() []*kernel.Value { return []*kernel.Value{b.Add(c[0], b.Load(tile, j))} },
				func() []*kernel.Value { return c })
		})
		z := b.Unary(kernel.Sqrt, b.Add(sum[0], b.Convert(ir.F32, b.Load(y, i))))
		b.Store(out, b.Mul(i, b.Int(4)), z, z, sum[0], z)
	})
	code, err := Write(k)
	if err != nil {
		t.Fatal(err)
	}
	return words(code)
}

// change returns a module whose instruction number n with an opcode has other operands, or is
// repeated or left out.
func change(t *testing.T, module []uint32, op uint32, n int, edit func(operands []uint32) [][]uint32) []uint32 {
	out := slices.Clone(module[:5])
	found := false
	for at := 5; at < len(module); {
		size := int(module[at] >> 16)
		in := module[at : at+size]
		at += size
		if in[0]&0xffff != op {
			out = append(out, in...)
			continue
		}
		if n--; n != -1 {
			out = append(out, in...)
			continue
		}
		found = true
		for _, operands := range edit(slices.Clone(in[1:])) {
			out = append(out, uint32(len(operands)+1)<<16|op)
			out = append(out, operands...)
		}
	}
	if !found {
		t.Fatalf("the sample has too few instructions %d", op)
	}
	return out
}

// TestCheckFindsFaults plants faults in a module.
func TestCheckFindsFaults(t *testing.T) {
	set := func(i int, v uint32) func([]uint32) [][]uint32 {
		return func(x []uint32) [][]uint32 { x[i] = v; return [][]uint32{x} }
	}
	swap := func(i, j int) func([]uint32) [][]uint32 {
		return func(x []uint32) [][]uint32 { x[i], x[j] = x[j], x[i]; return [][]uint32{x} }
	}
	drop := func([]uint32) [][]uint32 { return nil }
	twice := func(x []uint32) [][]uint32 { return [][]uint32{x, x} }
	cut := func(n int) func([]uint32) [][]uint32 {
		return func(x []uint32) [][]uint32 { return [][]uint32{x[:len(x)-n]} }
	}
	for _, c := range []struct {
		name string
		op   uint32
		n    int
		edit func([]uint32) [][]uint32
		want string
	}{
		{"a capability is missing", opCapability, 2, drop, "no capability allows 64 bits"},
		{"no capability of 8 bits", opCapability, 3, drop, "makes a pointer to elements of 8 bits"},
		{"no capability of subnormals", opCapability, 5, drop, "DenormPreserve is not declared"},
		{"no capability of rounding", opCapability, 6, drop, "RoundingModeRTE is not declared"},
		{"no capability of signs", opCapability, 7, drop, "SignedZeroInfNanPreserve is not declared"},
		{"the memory model is missing", opMemoryModel, 0, drop, "no memory model"},
		{"another memory model", opMemoryModel, 0, set(1, 0), "GLSL450"},
		{"no entry point", opEntryPoint, 0, drop, "no entry point"},
		{"two entry points of a name", opEntryPoint, 0, twice, "two have the name"},
		{"a variable is not listed", opEntryPoint, 0, cut(1), "does not list the variable"},
		{"no size of blocks", opExecutionMode, 0, drop, "0 sizes of blocks"},
		{"a block of no threads", opExecutionMode, 0, set(2, 0), "unknown mode"},
		{"the name of nothing", opName, 0, set(0, 4000), "is not defined"},
		{"a structure without layout", opMemberDecorate, 1, drop, "no offset"},
		{"members overlap", opMemberDecorate, 1, set(3, 4), "or a wrong one"},
		{"a variable that is not built in", opDecorate, 0, set(2, 3), "built in"},
		{"an offset twice", opMemberDecorate, 1, twice, "says so before"},
		{"an unknown decoration", opDecorate, 0, set(1, 84), "unknown decoration"},
		{"the mode of a variable", opExecutionMode, 1, func(x []uint32) [][]uint32 { x[0] = 1; return [][]uint32{x} }, "is not an entry point"},
		{"two merges of a block", opSelectionMerge, 0, twice, "has another one"},
		{"an unknown control", opLoopMerge, 0, set(2, 32), "control is unknown"},
		{"a type twice", opTypeBool, 0, func(x []uint32) [][]uint32 { return [][]uint32{x, x} }, "is defined at word"},
		{"integers of 24 bits", opTypeInt, 0, set(1, 24), "no capability allows 24 bits"},
		{"signed integers", opTypeInt, 0, set(2, 1), "without a sign"},
		{"a constant of two words", opConstant, 0, func(x []uint32) [][]uint32 { return [][]uint32{append(x, 0)} }, "it has 2 words"},
		{"a variable of another class", opVariable, 0, set(2, classWorkgroup), "not a pointer of class 4"},
		{"an unknown function", opExtInst, 0, set(3, 77), "unknown function 77"},
		{"a store without alignment", opStore, 1, cut(2), "not aligned"},
		{"alignment of less than an element", opStore, 1, set(3, 2), "not aligned"},
		{"a value of another type is stored", opStore, 0, func(x []uint32) [][]uint32 { x[1] = x[0]; return [][]uint32{x} }, "is not a pointer to the type"},
		{"a sum of other types", opFAdd, 0, func(x []uint32) [][]uint32 { x[0] = 1; return [][]uint32{x} }, "not the type of a value"},
		{"a sum of itself", opFAdd, 0, func(x []uint32) [][]uint32 { x[2] = x[1]; return [][]uint32{x} }, "does not have a value on every path"},
		{"a value is defined twice", opFAdd, 0, twice, "is defined at word"},
		{"a value is missing", opFAdd, 0, drop, "is not defined"},
		{"a phi of the wrong block", opPhi, 0, func(x []uint32) [][]uint32 { x[5] = x[3]; return [][]uint32{x} }, "is there twice"},
		{"a phi of too few blocks", opPhi, 0, cut(2), "1 of 2 blocks"},
		{"a phi of half a pair", opPhi, 0, cut(1), "not pairs"},
		{"a phi of values of the other block", opPhi, 0, swap(2, 4), "does not have a value at the end"},
		{"a phi of another type", opPhi, 1, swap(0, 2), "is not"},
		{"a loop without merge", opLoopMerge, 0, drop, "no merge instruction"},
		{"merge and continue change places", opLoopMerge, 0, swap(0, 1), "goes back"},
		{"a selection without merge", opSelectionMerge, 0, drop, "no merge instruction"},
		{"a selection that ends with the loop", opSelectionMerge, 0, set(0, 0), "0 is not an id"},
		{"a branch to a value", opBranch, 0, set(0, 1), "is not a block"},
		{"a branch to the first block", opBranch, 0, func(x []uint32) [][]uint32 { x[0] = 5; return [][]uint32{x} }, "is not a block of the function that a branch can reach"},
		{"branches change places", opBranchConditional, 0, func(x []uint32) [][]uint32 { x[1] = x[2]; return [][]uint32{x} }, "nothing branches to it"},
		{"a condition that is not bool", opBranchConditional, 0, func(x []uint32) [][]uint32 { x[0] = 11; return [][]uint32{x} }, "condition"},
		{"the block does not end", opReturn, 0, drop, "does not end"},
		{"two ends of a block", opReturn, 0, twice, "not in a block"},
		{"the function does not end", opFunctionEnd, 0, drop, "with its end"},
		{"a barrier of the device", opControlBarrier, 0, func(x []uint32) [][]uint32 { x[0] = x[2]; return [][]uint32{x} }, "not a barrier"},
		{"a vector of too few", opCompositeConstruct, 0, cut(1), "3 values"},
		{"an element of a vector that is past the end", opCompositeExtract, 0, set(3, 3), "does not extract"},
		{"a pointer to another part", opAccessChain, 0, func(x []uint32) [][]uint32 { return [][]uint32{append(x, x[3], x[3])} }, "does not choose a part"},
		{"a pointer from itself", opBitcast, 0, func(x []uint32) [][]uint32 { x[2] = x[1]; return [][]uint32{x} }, "value on every path"},
		{"too few operands", opIMul, 0, cut(1), "too few operands"},
		{"too many operands", opIMul, 0, func(x []uint32) [][]uint32 { return [][]uint32{append(x, 1)} }, "too many operands"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(change(t, sample(t), c.op, c.n, c.edit))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got the error %v, want one with %q", err, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		edit func(m []uint32) []uint32
		want string
	}{
		"no words":                {func([]uint32) []uint32 { return nil }, "0 words"},
		"another magic number":    {func(m []uint32) []uint32 { m[0]++; return m }, "the first word"},
		"another version":         {func(m []uint32) []uint32 { m[1]++; return m }, "the version"},
		"another schema":          {func(m []uint32) []uint32 { m[4]++; return m }, "the schema"},
		"a bound that is too low": {func(m []uint32) []uint32 { m[3]--; return m }, "is not in 1 to"},
		"a bound that is high":    {func(m []uint32) []uint32 { m[3]++; return m }, "the bound is"},
		"an unknown instruction":  {func(m []uint32) []uint32 { return append(m, 1<<16|9999) }, "unknown instruction 9999"},
		"an end that is cut off":  {func(m []uint32) []uint32 { return append(m, 2<<16|opBranch) }, "1 are left"},
		"a capability at the end": {func(m []uint32) []uint32 { return append(m, 2<<16|opCapability, 1) }, "too late"},
	} {
		if err := Check(c.edit(sample(t))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got the error %v, want one with %q", name, err, c.want)
		}
	}
}
