package guard

import (
	"runtime"
	"unsafe"
)

// request asks valgrind for something; without valgrind it does nothing.
//
//go:noescape
func request(args *[6]uint64)

// fma512 runs n times twelve independent multiply-adds of 16 numbers.
//
//go:noescape
func fma512(n int)

// Requests to the tool callgrind, by the numbers in its documentation's header.
const (
	callgrind = 'C'<<24 | 'T'<<16
	zeroStats = callgrind + 1
	dumpStats = callgrind + 3
)

// zero sets callgrind's counts to zero.
func zero() { request(&[6]uint64{zeroStats}) }

// dump makes callgrind write its counts to a file of their own, under a name.
func dump(name string) {
	text := append([]byte(name), 0)
	request(&[6]uint64{dumpStats, uint64(uintptr(unsafe.Pointer(&text[0])))})
	runtime.KeepAlive(text)
}
