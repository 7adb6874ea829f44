package libcuda

import "unsafe"

// Result is a CUresult.
type Result int32

// Results of functions.
const (
	Success            Result = 0
	InvalidValue       Result = 1
	OutOfMemory        Result = 2
	NotInitialized     Result = 3
	Deinitialized      Result = 4
	NoDevice           Result = 100
	InvalidDevice      Result = 101
	InvalidImage       Result = 200
	InvalidContext     Result = 201
	NoBinaryForGPU     Result = 209
	ECCUncorrectable   Result = 214
	InvalidPTX         Result = 218
	NVLinkError        Result = 220
	UnsupportedPTX     Result = 222
	InvalidHandle      Result = 400
	NotFound           Result = 500
	NotReady           Result = 600
	IllegalAddress     Result = 700
	OutOfResources     Result = 701
	LaunchTimeout      Result = 702
	ContextDestroyed   Result = 709
	Assert             Result = 710
	HardwareStackError Result = 714
	IllegalInstruction Result = 715
	MisalignedAddress  Result = 716
	InvalidAddressKind Result = 717
	InvalidPC          Result = 718
	LaunchFailed       Result = 719
	TensorMemoryLeak   Result = 721
	Unknown            Result = 999
)

// IsSticky reports whether r means that every later call in the context fails with the same result.
func (r Result) IsSticky() bool {
	switch r {
	case Deinitialized, ECCUncorrectable, NVLinkError, IllegalAddress, LaunchTimeout, ContextDestroyed, Assert,
		HardwareStackError, IllegalInstruction, MisalignedAddress, InvalidAddressKind, InvalidPC, LaunchFailed,
		TensorMemoryLeak, Unknown:
		return true
	}
	return false
}

// Text returns a NUL-terminated C string as a Go string.
func Text(s *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
