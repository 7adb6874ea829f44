// Package kernel makes calls of the kernels of runtime/cpu. It has a constructor for each kernel,
// generated from the kernel's signature, so that a wrong number or kind of arguments does not
// compile. The formulas for the sizes of scratch memory are generated too. It does not know which
// operator calls which kernel (package call), nor how a kernel is run (package gen/target/cpu).
package kernel

import (
	"fmt"
	"slices"
	"strings"
)

//go:generate go run ./internal/generate

// Kernel describes a kernel without linking it.
type Kernel struct {
	Folder   string // "image" for runtime/rt/image; "" for runtime/cpu
	Name     string
	Params   []Param
	Types    []TypeParam
	Variadic bool
	Fallible bool // the last result is an error
}

// Param is a parameter of a kernel and its Go type. The type of a variadic parameter is the type of
// one argument.
type Param struct{ Name, Type string }

// TypeParam is a type parameter and the element types that it allows.
type TypeParam struct {
	Name string
	Of   []string
}

// String returns the name of the kernel, such as "MatMul". If the kernel is not in runtime/cpu, the
// name follows the folder, as in "image.Decode".
func (k *Kernel) String() string {
	if k.Folder != "" {
		return k.Folder + "." + k.Name
	}
	return k.Name
}

// Param returns the parameter that takes argument i.
func (k *Kernel) Param(i int) Param { return k.Params[min(i, len(k.Params)-1)] }

// instance returns the index of the instance that takes arguments of the given Go types. A type is
// "" if the argument is absent or has no type of its own. instance returns an error if there is no
// such instance, or if the types do not determine it.
func (k *Kernel) instance(args []string) (int, error) {
	bound := make([]string, len(k.Types))
	for i, arg := range args {
		if p := k.Param(i); arg != "" && !k.unify(p.Type, arg, bound) {
			return 0, fmt.Errorf("kernel %s: %s is a %s, %s expected", k, p.Name, arg, k.expected(p.Type, bound))
		}
	}
	number := 0
	for i, t := range k.Types {
		at := slices.Index(t.Of, bound[i])
		if at < 0 {
			return 0, fmt.Errorf("kernel %s: no argument tells what %s is", k, t.Name)
		}
		number = number*len(t.Of) + at
	}
	return number, nil
}

// unify reports whether arg matches the type param, which may contain type parameters. It sets bound
// for type parameters that are not bound yet.
func (k *Kernel) unify(param, arg string, bound []string) bool {
	want, have := tokens(param), tokens(arg)
	return slices.EqualFunc(want, have, func(want, have string) bool {
		i := slices.IndexFunc(k.Types, func(t TypeParam) bool { return t.Name == want })
		if i < 0 {
			return want == have
		}
		if bound[i] == "" && slices.Contains(k.Types[i].Of, have) {
			bound[i] = have
		}
		return bound[i] == have
	})
}

func tokens(typ string) []string {
	var out []string
	for typ != "" {
		end := strings.IndexAny(typ, "[]*")
		if end < 0 {
			end = len(typ)
		}
		end = max(end, 1)
		out, typ = append(out, typ[:end]), typ[end:]
	}
	return out
}

// expected describes the type of a parameter in an error. If the type contains a type parameter, such as T, the text
// also has the type that T is bound to. If T is not bound, the text has all types that T allows.
func (k *Kernel) expected(param string, bound []string) string {
	for i, t := range k.Types {
		if !slices.Contains(tokens(param), t.Name) {
			continue
		}
		if bound[i] != "" {
			return fmt.Sprintf("%s of %s", param, bound[i])
		}
		return fmt.Sprintf("%s of %s", param, strings.Join(t.Of, ", "))
	}
	return param
}
