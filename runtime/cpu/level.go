package cpu

// Level is an instruction set for which there are kernels.
type Level int

const (
	Generic Level = iota // plain Go
	SIMD128              // WebAssembly with vectors of 128 bits
	AVX2                 // amd64 with AVX2 and FMA
	AVX512               // amd64 with AVX-512 F, VL, DQ and BW
	NEON                 // arm64
)

var levelNames = [...]string{Generic: "generic", SIMD128: "simd128", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the level's name as BURNGEN_CPU spells it.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return "unknown"
	}
	return levelNames[l]
}

// fuses reports whether the assembly of the level has fused multiply-adds, which the kernels of angles and powers
// need.
func fuses() bool { return level >= AVX2 }

func best() Level {
	ls := Levels()
	return ls[len(ls)-1]
}

// CurrentLevel returns the level the kernels use now.
func CurrentLevel() Level { return level }
