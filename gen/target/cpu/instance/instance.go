// Package instance holds the kernels of runtime/cpu for every choice of element types, so that they
// can be called without generating code. It takes as long to compile as the rest of burngen. It
// depends on the kernels only, so that changes in the rest of burngen do not recompile it.
package instance

// Of returns an instance of a kernel as a function. kernel is the kernel's name, with its package
// unless that is runtime/cpu. i is the index of the instance. A kernel has an instance for each
// combination of its element types, in lexicographic order: the last type varies fastest. Of panics if
// there is no such instance.
func Of(kernel string, i int) any { return instances[kernel][i] }
