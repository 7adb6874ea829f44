package guard

import (
	"runtime"
	"unsafe"
)

// request sends a client request to valgrind. Without valgrind it does nothing.
//
//go:noescape
func request(args *[6]uint64)

// fma512 runs n rounds of twelve independent multiply-adds of 16 float32 each.
//
//go:noescape
func fma512(n int)

// Client requests of the tool callgrind, as numbered in its header file.
const (
	callgrind = 'C'<<24 | 'T'<<16
	zeroStats = callgrind + 1
	dumpStats = callgrind + 3
)

func zero() { request(&[6]uint64{zeroStats}) }

// dump makes callgrind write its counts to a file. The file contains name as a label.
func dump(name string) {
	text := append([]byte(name), 0)
	request(&[6]uint64{dumpStats, uint64(uintptr(unsafe.Pointer(&text[0])))})
	runtime.KeepAlive(text)
}
