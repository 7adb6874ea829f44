//go:build !amd64 || noasm

package cpu

// noAssembly is the panic value of functions that only a level with assembly calls.
const noAssembly = "cpu: no assembly for this machine"
