//go:build !amd64 || noasm

package cpu

// noAssembly is the panic value of functions that only a level with assembly calls. On amd64 all of
// them panic with it if there is no assembly.
const noAssembly = "cpu: no assembly for this machine"
