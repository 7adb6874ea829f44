package spirv

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check returns an error if a module breaks a rule of SPIR-V or Vulkan: the order of its parts, ids,
// types of operands, capabilities, and structured control flow. It accepts only the instructions that
// [Write] uses. It has tables of its own, so that it finds errors in the tables of the writer.
func Check(words []uint32) error {
	if err := check(words); err != nil {
		return fmt.Errorf("spirv: %w", err)
	}
	return nil
}

type checker struct {
	bound        uint32
	capabilities map[uint32]bool
	defined      map[uint32]*instruction // what defines an id
	types        map[uint32]kind         // the types by their ids
	decorations  map[uint32][]*instruction
	entries      []*instruction
	modes        []*instruction
	model        *instruction
}

func check(words []uint32) error {
	switch {
	case len(words) < 5:
		return fmt.Errorf("%d words are not a module", len(words))
	case words[0] != 0x07230203:
		return fmt.Errorf("the first word is %#08x, want 0x07230203", words[0])
	case words[1] != 0x00010500:
		return fmt.Errorf("the version is %#08x, want 0x00010500", words[1])
	case words[4] != 0:
		return fmt.Errorf("the schema is %d, want 0", words[4])
	}
	all, err := read(words)
	if err != nil {
		return err
	}
	c := &checker{
		bound: words[3], capabilities: map[uint32]bool{}, defined: map[uint32]*instruction{},
		types: map[uint32]kind{}, decorations: map[uint32][]*instruction{},
	}
	if err := c.define(all); err != nil {
		return err
	}
	first := slices.IndexFunc(all, func(in *instruction) bool { return in.name == "Function" })
	if first < 0 {
		return fmt.Errorf("there is no function")
	}
	if err := c.globals(all[:first]); err != nil {
		return err
	}
	functions, err := c.functions(all[first:])
	if err != nil {
		return err
	}
	return c.interfaces(functions)
}

// sections lists the parts of a module in their order, as the names of the instructions that belong
// to each.
var sections = []string{
	"Capability", "ExtInstImport", "MemoryModel", "EntryPoint", "ExecutionMode", "String Source", "Name MemberName",
	"Decorate MemberDecorate", "TypeVoid TypeBool TypeInt TypeFloat TypeVector TypeArray TypeRuntimeArray TypeStruct TypePointer TypeFunction " +
		"ConstantTrue ConstantFalse Constant Variable",
}

func section(name string) int {
	for i, s := range sections {
		if slices.Contains(strings.Fields(s), name) {
			return i
		}
	}
	return len(sections) // functions
}

// define checks the order of the parts, and that each id is defined once and below the bound.
func (c *checker) define(all []*instruction) error {
	last := 0
	greatest := uint32(0)
	for _, in := range all {
		now := section(in.name)
		if now < last {
			return in.wrong("it comes too late in the module")
		}
		last = now
		if id := in.result; strings.Contains(in.operands, "r") {
			if id == 0 || id >= c.bound {
				return in.wrong("the id is not in 1 to %d", c.bound-1)
			}
			if before := c.defined[id]; before != nil {
				return in.wrong("the id is defined at word %d", before.at)
			}
			c.defined[id] = in
			greatest = max(greatest, id)
		}
	}
	if greatest+1 != c.bound {
		return fmt.Errorf("the bound is %d, the greatest id %d", c.bound, greatest)
	}
	for _, in := range all {
		for _, id := range append(slices.Clone(in.ids), in.typ) {
			if id != 0 && c.defined[id] == nil {
				return in.wrong("%%%d is not defined", id)
			}
		}
		if slices.Contains(in.ids, 0) || strings.Contains(in.operands, "t") && in.typ == 0 {
			return in.wrong("0 is not an id")
		}
	}
	return nil
}

func (c *checker) globals(all []*instruction) error {
	for _, in := range all {
		var err error
		switch in.name {
		case "Capability":
			c.capabilities[in.literals[0]] = true
		case "ExtInstImport":
			if in.text != "GLSL.std.450" {
				err = in.wrong("unknown set %q", in.text)
			}
		case "MemoryModel":
			if c.model != nil || in.literals[0] != 5348 || in.literals[1] != 1 {
				err = in.wrong("want PhysicalStorageBuffer64 GLSL450, once")
			}
			c.model = in
		case "EntryPoint":
			c.entries = append(c.entries, in)
		case "ExecutionMode":
			c.modes = append(c.modes, in)
		case "Source":
			if c.defined[in.ids[0]].name != "String" {
				err = in.wrong("%%%d is not a string", in.ids[0])
			}
		case "Decorate", "MemberDecorate":
			err = c.decoration(in)
		case "String", "Name", "MemberName":
		case "ConstantTrue", "ConstantFalse", "Constant":
			err = c.constant(in)
		case "Variable":
			err = c.variable(in)
		default:
			err = c.typ(in)
		}
		if err != nil {
			return err
		}
	}
	if c.model == nil {
		return fmt.Errorf("there is no memory model")
	}
	if !c.capabilities[1] || !c.capabilities[5347] {
		return fmt.Errorf("the capabilities Shader and PhysicalStorageBufferAddresses are not declared")
	}
	return nil
}

func (c *checker) decoration(in *instruction) error {
	n := in.literals
	switch {
	case in.name == "MemberDecorate" && len(n) == 3 && n[1] == 35: // an offset
	case in.name == "Decorate" && len(n) == 1 && (n[0] == 2 || n[0] == 42): // a block, and what must not be fused
	case in.name == "Decorate" && len(n) == 2 && (n[0] == 6 || n[0] == 11): // a stride, and built in
	default:
		return in.wrong("unknown decoration %v", n)
	}
	for _, d := range c.decorations[in.ids[0]] {
		if d.name == in.name && d.literals[0] == n[0] {
			return in.wrong("word %d says so before", d.at)
		}
	}
	c.decorations[in.ids[0]] = append(c.decorations[in.ids[0]], in)
	return nil
}

// interfaces checks the entry points. functions holds the functions by their ids.
func (c *checker) interfaces(functions map[uint32]*body) error {
	if len(c.entries) == 0 {
		return fmt.Errorf("there is no entry point")
	}
	names := map[string]bool{}
	for _, in := range c.entries {
		f := functions[in.ids[0]]
		switch {
		case in.literals[0] != 5:
			return in.wrong("it is not for compute")
		case f == nil:
			return in.wrong("%%%d is not a function", in.ids[0])
		case names[in.text]:
			return in.wrong("two have the name %q", in.text)
		}
		names[in.text] = true
		listed := map[uint32]bool{}
		pushes := 0
		for _, id := range in.ids[1:] {
			if c.defined[id].name != "Variable" || listed[id] {
				return in.wrong("%%%d is not a variable, or is listed twice", id)
			}
			listed[id] = true
			if c.defined[id].literals[0] == 9 {
				pushes++
			}
		}
		if pushes > 1 {
			return in.wrong("it has %d push constants", pushes)
		}
		for _, id := range slices.Sorted(maps.Keys(f.variables)) {
			if !listed[id] {
				return in.wrong("it does not list the variable %%%d", id)
			}
		}
		if err := c.size(in); err != nil {
			return err
		}
	}
	for _, mode := range c.modes {
		if !slices.ContainsFunc(c.entries, func(in *instruction) bool { return in.ids[0] == mode.ids[0] }) {
			return mode.wrong("%%%d is not an entry point", mode.ids[0])
		}
	}
	return nil
}

func (c *checker) size(entry *instruction) error {
	sizes := 0
	for _, mode := range c.modes {
		if mode.ids[0] != entry.ids[0] {
			continue
		}
		switch n := mode.literals[1:]; {
		case mode.literals[0] == 17 && len(n) == 3 && n[0] > 0 && n[1] > 0 && n[2] > 0:
			sizes++
		case mode.literals[0] == 4459 && len(n) == 1 && n[0] == 32:
			if !c.capabilities[4464] {
				return mode.wrong("the capability DenormPreserve is not declared")
			}
		case mode.literals[0] == 4462 && len(n) == 1 && n[0] == 32:
			if !c.capabilities[4467] {
				return mode.wrong("the capability RoundingModeRTE is not declared")
			}
		case mode.literals[0] == 4461 && len(n) == 1 && (n[0] == 32 || n[0] == 64):
			if !c.capabilities[4466] {
				return mode.wrong("the capability SignedZeroInfNanPreserve is not declared")
			}
		default:
			return mode.wrong("unknown mode")
		}
	}
	if sizes != 1 {
		return entry.wrong("it has %d sizes of blocks", sizes)
	}
	return nil
}
