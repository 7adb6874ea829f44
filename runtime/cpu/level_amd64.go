//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// Levels lists the levels that the processor and the operating system support. The slowest comes
// first.
func Levels() []Level {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW && x.HasFMA:
		return []Level{Generic, AVX2, AVX512}
	case x.HasAVX2 && x.HasFMA:
		return []Level{Generic, AVX2}
	}
	return []Level{Generic}
}
