package main

// These are the instructions and types of WebAssembly that kernels need. See WebAssembly Core Specification 2.0,
// section 5.

const (
	i32  = 0x7f
	f32  = 0x7d
	v128 = 0x7b
)

const (
	unreachable = 0x00
	blockStart  = 0x02
	loopStart   = 0x03
	ifStart     = 0x04
	elseStart   = 0x05
	end         = 0x0b
	branch_     = 0x0c
	branchIf    = 0x0d
	returns     = 0x0f
	localGet    = 0x20
	localSet    = 0x21
	i32Load     = 0x28
	i32Store    = 0x36
	i32Const    = 0x41
	i32Eqz      = 0x45
	i32Eq       = 0x46
	i32Ne       = 0x47
	i32LtS      = 0x48
	i32GtS      = 0x4a
	i32LeS      = 0x4c
	i32GeS      = 0x4e
	i32Add      = 0x6a
	i32Sub      = 0x6b
	i32Mul      = 0x6c
	i32And      = 0x71
	i32Xor      = 0x73
	i32Shl      = 0x74
	i32ShrU     = 0x76
	emptyType   = 0x40
)

// Numbers of vector instructions, which follow the byte 0xfd.
const (
	v128Load         = 0x00
	v128Load32Splat  = 0x09
	v128Store        = 0x0b
	v128Const        = 0x0c
	i8x16Shuffle     = 0x0d
	i32x4Splat       = 0x11
	f32x4Splat       = 0x13
	f32x4ExtractLane = 0x1f
	i32x4LtS         = 0x39
	f32x4Eq          = 0x41
	f32x4Ne          = 0x42
	f32x4Lt          = 0x43
	f32x4Gt          = 0x44
	v128Not          = 0x4d
	v128And          = 0x4e
	v128Or           = 0x50
	v128Xor          = 0x51
	v128Bitselect    = 0x52
	v128Load32Lane   = 0x56
	v128Store32Lane  = 0x5a
	v128Store64Lane  = 0x5b
	v128Load32Zero   = 0x5c
	v128Load64Zero   = 0x5d
	f32x4Ceil        = 0x67
	f32x4Floor       = 0x68
	f32x4Nearest     = 0x6a
	i32x4Shl         = 0xab
	i32x4ShrS        = 0xac
	i32x4ShrU        = 0xad
	i32x4Add         = 0xae
	i32x4Sub         = 0xb1
	f32x4Sqrt        = 0xe3
	f32x4Add         = 0xe4
	f32x4Sub         = 0xe5
	f32x4Mul         = 0xe6
	f32x4Div         = 0xe7
	f32x4Pmin        = 0xea
	f32x4Pmax        = 0xeb
	i32x4TruncSatS   = 0xf8
	f32x4ConvertS    = 0xfa
)

// uleb and sleb append a number in LEB128.
func uleb(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func sleb(b []byte, n int64) []byte {
	for n < -0x40 || n >= 0x40 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7f)
}

func sized(b, content []byte) []byte { return append(uleb(b, uint64(len(content))), content...) }

func named(b []byte, name string) []byte { return sized(b, []byte(name)) }

// bytes returns the module: it imports a memory, and exports the kernels.
func (m *kernelModule) bytes() []byte {
	var types, functions, exports, bodies []byte
	known := map[string]int{}
	for i, w := range m.functions {
		t := sized(sized([]byte{0x60}, w.types), w.results)
		number, ok := known[string(t)]
		if !ok {
			number = len(known)
			known[string(t)] = number
			types = append(types, t...)
		}
		functions = uleb(functions, uint64(number))
		exports = uleb(append(named(exports, w.name), 0), uint64(i))
		bodies = sized(bodies, append(w.declared(), w.code...))
	}
	count := uint64(len(m.functions))
	imports := append(named(named([]byte{1}, importMemory), "memory"), 2, 0, 1)
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id      byte
		content []byte
	}{
		{1, append(uleb(nil, uint64(len(known))), types...)},
		{2, imports},
		{3, append(uleb(nil, count), functions...)},
		{7, append(uleb(nil, count), exports...)},
		{10, append(uleb(nil, count), bodies...)},
	} {
		b = sized(append(b, s.id), s.content)
	}
	return b
}

// declared returns the types of the locals: runs of equal types.
func (w *wasmFunction) declared() []byte {
	var b []byte
	runs := uint64(0)
	for i := 0; i < len(w.locals); {
		n := i
		for n < len(w.locals) && w.locals[n] == w.locals[i] {
			n++
		}
		b = append(uleb(b, uint64(n-i)), w.locals[i])
		runs++
		i = n
	}
	return append(uleb(nil, runs), b...)
}
