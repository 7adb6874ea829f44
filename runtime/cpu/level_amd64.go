//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// best is the highest level that the processor and the operating system support.
func best() Level {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return Generic
}
