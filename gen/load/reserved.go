package load

import (
	"go/token"
	"slices"
	"strings"
)

// Generated packages have methods with the names in reservedMethods, and methods with the prefixes in
// reservedPrefixes. They have types and functions with the names in reservedTypes. The methods of a description must
// not have these names. Its parameters and results must not have the names in reservedTypes, because types are named
// after them.
var (
	reservedMethods  = strings.Fields("Meta Save Swap On Device Target NewSession NewTrainer SetContext Params Model Weights State Backward")
	reservedPrefixes = strings.Fields("Step Train")
	reservedTypes    = strings.Fields("Model Session Trainer TrainerOptions New Load LoadFrom Wanted Built Meta")
)

// methodName reports a method whose name generated packages use themselves, and a loss whose name does
// not end in Loss.
func (c *checked) methodName(m *method) {
	name := m.name()
	taken := slices.Contains(reservedMethods, name) || slices.Contains(reservedTypes, name)
	for _, p := range reservedPrefixes {
		taken = taken || strings.HasPrefix(name, p)
	}
	pos := m.decl.Name.Pos()
	switch {
	case taken:
		c.faultf(pos, "generated packages have a method %s of their own; give this one another name", name)
	case m.loss && !strings.HasSuffix(name, "Loss"):
		c.faultf(pos, "the name of a loss ends in Loss, as in %sLoss", name)
	case strings.HasSuffix(name, "Device") && c.isMarked(strings.TrimSuffix(name, "Device")):
		c.faultf(pos, "%s for tensors on a device is called %s; give this method another name", strings.TrimSuffix(name, "Device"), name)
	case strings.HasSuffix(name, "Context") && c.isMarked(strings.TrimSuffix(name, "Context")):
		c.faultf(pos, "%s with a context is called %s; give this method another name", strings.TrimSuffix(name, "Context"), name)
	}
}

func (c *checked) isMarked(name string) bool {
	return slices.ContainsFunc(c.marked, func(m marked) bool { return m.decl.Name.Name == name })
}

// reserved reports name, which stands at pos, if generated packages use it as the name of a type.
// kind is the kind of thing that has the name, such as "result".
func (c *checked) reserved(pos token.Pos, kind, name string) {
	typ := strings.ToUpper(name[:1]) + name[1:]
	if slices.Contains(reservedTypes, typ) || slices.Contains(c.configs.Names(), typ) {
		c.faultf(pos, "%s %s: generated packages have a %s of their own; give it another name", kind, name, typ)
	}
}
