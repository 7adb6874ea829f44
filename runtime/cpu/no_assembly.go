//go:build !amd64 || noasm

package cpu

// noAssembly is the panic value of functions that must be called only at a level with assembly.
const noAssembly = "cpu: no assembly for this machine"
