package pytorch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/burngen/burngen/pytorch/pickle"
)

// globals maps the names of functions that a pickle may call, "module.name", to their
// implementations. [loader.global] also accepts the names of element types, of storages, and of
// classes that are only mentioned.
var globals = map[string]func(l *loader, args []pickle.Value) (pickle.Value, error){
	"collections.OrderedDict":                    newDict,
	"collections.defaultdict":                    newDefaultDict,
	"collections.Counter":                        newDict,
	"builtins.set":                               newSet,
	"__builtin__.set":                            newSet,
	"builtins.dict":                              newDict,
	"builtins.list":                              newList,
	"__builtin__.dict":                           newDict,
	"__builtin__.list":                           newList,
	"_codecs.encode":                             newBytes,
	"numpy.dtype":                                newNumpyType,
	"numpy.core.multiarray.scalar":               newNumpyScalar,
	"numpy._core.multiarray.scalar":              newNumpyScalar,
	"argparse.Namespace":                         newAttributes,
	"types.SimpleNamespace":                      newAttributes,
	"pathlib.PosixPath":                          newPath,
	"pathlib.PurePosixPath":                      newPath,
	"torch.Size":                                 newSize,
	"torch.device":                               newText,
	"torch._utils._rebuild_tensor":               rebuildTensor,
	"torch._utils._rebuild_tensor_v2":            rebuildTensor,
	"torch._utils._rebuild_tensor_v3":            rebuildTensorV3,
	"torch._utils._rebuild_parameter":            rebuildParameter,
	"torch._utils._rebuild_parameter_with_state": rebuildParameter,
	"torch._tensor._rebuild_from_type_v2":        rebuildFromType,
	"torch._tensor._rebuild_from_type":           rebuildFromType,
	"torch.tensor._rebuild_from_type":            rebuildFromType,
	"torch.nn.parameter.Parameter":               rebuildParameter,
	"torch._utils._rebuild_qtensor":              refuse("a quantised tensor: dequantize() it before it is saved"),
	"torch._utils._rebuild_sparse_tensor":        refuse(errSparse.Error()),
	"torch._utils._rebuild_sparse_csr_tensor":    refuse(errSparse.Error()),
	"torch._utils._rebuild_nested_tensor":        refuse(errSparse.Error()),
	"torch._utils._rebuild_wrapper_subclass":     refuse(errSparse.Error()),
	"torch._utils._rebuild_meta_tensor_no_storage": refuse(
		"a meta tensor has no elements: save the tensor itself"),
	"torch.serialization._get_layout":    firstArgument,
	"torch.jit._pickle.build_intlist":    firstArgument,
	"torch.jit._pickle.build_doublelist": firstArgument,
	"torch.jit._pickle.build_boollist":   firstArgument,
	"torch.jit._pickle.build_tensorlist": firstArgument,
	"torch.jit._pickle.restore_type_tag": firstArgument,
}

// mentioned lists the names that a pickle may contain but not call.
var mentioned = map[string]bool{
	"torch.Tensor":              true,
	"torch.strided":             true,
	"torch.contiguous_format":   true,
	"torch.preserve_format":     true,
	"torch.per_tensor_affine":   true,
	"torch.per_channel_affine":  true,
	"torch.nn.parameter.Buffer": true,
}

const scriptModule = "__torch__"

// global resolves a name in a pickle.
func (l *loader) global(module, name string) (*pickle.Class, error) {
	c := &pickle.Class{Module: module, Name: name}
	full := module + "." + name
	if build := globals[full]; build != nil {
		c.New = func(args []pickle.Value) (pickle.Value, error) { return build(l, args) }
		return c, nil
	}
	if _, ok := elementOf(c); ok || mentioned[full] || isTensorType(c) {
		return c, nil
	}
	if l.script && (module == scriptModule || strings.HasPrefix(module, scriptModule+".")) {
		c.New = func(args []pickle.Value) (pickle.Value, error) { return &object{class: c}, nil }
		return c, nil
	}
	if l.inert == nil {
		l.inert = map[*pickle.Class]bool{}
	}
	if len(l.inert) == maxInert {
		return nil, fmt.Errorf("%v is refused: weights do not need it", c)
	}
	l.inert[c] = true
	return c, nil
}

// maxInert is the maximum number of times that a file may mention unknown names; more are an error.
// An unknown name is allowed only as the class of a tensor.
const maxInert = 1 << 16

// useless returns an error if the pickle mentions an unknown name for another purpose than as the
// class of a tensor.
func (l *loader) useless() error {
	var first string
	for c := range l.inert {
		if s := c.String(); first == "" || s < first {
			first = s
		}
	}
	if first != "" {
		return fmt.Errorf("%s is refused: weights do not need it", first)
	}
	return nil
}

// elementOf returns the element type that v names. v is a dtype or a class of storages. elementOf
// returns false for other values.
func elementOf(v pickle.Value) (element, bool) {
	c, ok := v.(*pickle.Class)
	if !ok || c.Name == "" || c.Module != "torch" && c.Module != "torch.cuda" && c.Module != "torch.storage" {
		return element{}, false
	}
	for _, d := range dtypes {
		if c.Name == d.storage || c.Name == d.name {
			return element{"torch." + c.Name, d.dtype, d.width}, true
		}
	}
	return element{}, false
}

// isTensorType reports whether c is the tensor class of an element type, such as torch.FloatTensor.
func isTensorType(c *pickle.Class) bool {
	kind, ok := strings.CutSuffix(c.Name, "Tensor")
	if !ok {
		return false
	}
	_, ok = elementOf(&pickle.Class{Module: c.Module, Name: kind + "Storage"})
	return ok
}

// object is an instance of a class that is not executed: a TorchScript module or a namespace.
type object struct {
	class      *pickle.Class
	attributes pickle.Value
}

// SetState implements [pickle.Stateful]. It sets the attributes of o, and returns an error if they are
// set already.
func (o *object) SetState(state pickle.Value) error {
	if o.attributes != nil {
		return errors.New("the state is set twice")
	}
	o.attributes = state
	return nil
}

// refuse returns a function that creates a tensor whose use is an error. why is the text of the
// error.
func refuse(why string) func(*loader, []pickle.Value) (pickle.Value, error) {
	return func(l *loader, _ []pickle.Value) (pickle.Value, error) {
		return &tensor{refused: errors.New(why)}, l.spend(4)
	}
}

// items returns the items of a tuple or a list. It returns false for other values.
func items(v pickle.Value) ([]pickle.Value, bool) {
	switch v := v.(type) {
	case *pickle.Tuple:
		return v.Items, true
	case *pickle.List:
		return v.Items, true
	}
	return nil, false
}

// newDict implements dict(), dict(d) and dict(pairs).
func newDict(l *loader, args []pickle.Value) (pickle.Value, error) {
	d := &pickle.Dict{}
	if len(args) == 0 {
		return d, nil
	}
	if from, ok := args[0].(*pickle.Dict); ok {
		if err := l.spend(len(from.Keys)); err != nil {
			return nil, err
		}
		for i, k := range from.Keys {
			d.Set(k, from.Values[i])
		}
		return d, nil
	}
	pairs, ok := items(args[0])
	if !ok {
		return nil, errors.New("want a dict or a list of pairs")
	}
	if err := l.spend(len(pairs)); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		pair, ok := items(p)
		if !ok || len(pair) != 2 {
			return nil, errors.New("want a pair")
		}
		switch pair[0].(type) {
		case *pickle.List, *pickle.Dict, *pickle.Set:
			return nil, errors.New("a list, dict or set cannot be a key")
		}
		d.Set(pair[0], pair[1])
	}
	return d, nil
}

// newDefaultDict implements defaultdict(factory, …). It ignores the factory.
func newDefaultDict(l *loader, args []pickle.Value) (pickle.Value, error) {
	return newDict(l, args[min(1, len(args)):])
}

func newList(l *loader, args []pickle.Value) (pickle.Value, error) {
	list, err := oneSequence(l, args)
	return &pickle.List{Items: list}, err
}

func newSet(l *loader, args []pickle.Value) (pickle.Value, error) {
	list, err := oneSequence(l, args)
	return &pickle.Set{Items: list}, err
}

func newSize(l *loader, args []pickle.Value) (pickle.Value, error) {
	list, err := oneSequence(l, args)
	return &pickle.Tuple{Items: list}, err
}

// oneSequence returns a copy of the sequence args[0], or nil if args is empty.
func oneSequence(l *loader, args []pickle.Value) ([]pickle.Value, error) {
	if len(args) == 0 {
		return nil, nil
	}
	list, ok := items(args[0])
	if !ok {
		return nil, errors.New("want a list or a tuple")
	}
	if err := l.spend(len(list)); err != nil {
		return nil, err
	}
	return append([]pickle.Value(nil), list...), nil
}

// newBytes implements _codecs.encode(string, "latin1"), which protocols before 3 use for bytes.
func newBytes(l *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) != 2 || args[1] != "latin1" {
		return nil, errors.New(`want a string and "latin1"`)
	}
	s, ok := args[0].(string)
	if !ok {
		return nil, errors.New("want a string")
	}
	if err := l.spend(len(s)/64 + 1); err != nil {
		return nil, err
	}
	b := make(pickle.Bytes, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return nil, errors.New("a character is not in Latin-1")
		}
		b = append(b, byte(r))
	}
	return b, nil
}

func newAttributes(*loader, []pickle.Value) (pickle.Value, error) { return &object{}, nil }

// newText joins the arguments of a device: ("cuda", 0) becomes "cuda:0".
func newText(l *loader, args []pickle.Value) (pickle.Value, error) { return joined(l, args, ":") }

func newPath(l *loader, args []pickle.Value) (pickle.Value, error) { return joined(l, args, "/") }

func joined(l *loader, args []pickle.Value, between string) (pickle.Value, error) {
	var parts []string
	for _, a := range args {
		switch a.(type) {
		case string, int64:
			parts = append(parts, fmt.Sprint(a))
		default:
			return nil, errors.New("want strings")
		}
		if err := l.spend(len(parts[len(parts)-1])/64 + 1); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, between), nil
}

func firstArgument(_ *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) == 0 {
		return nil, errors.New("want an argument")
	}
	return args[0], nil
}

// rebuildTensor implements _rebuild_tensor(storage, offset, shape, strides) and _rebuild_tensor_v2.
// The further arguments of _rebuild_tensor_v2 are for training, and are ignored.
func rebuildTensor(l *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("have %d arguments, want at least 4", len(args))
	}
	s, err := l.storageOf(args[0])
	if err != nil {
		return nil, err
	}
	return l.view(s, s.element, args)
}

// rebuildTensorV3 is rebuildTensor with the element type as the seventh argument.
func rebuildTensorV3(l *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) < 7 {
		return nil, fmt.Errorf("have %d arguments, want at least 7", len(args))
	}
	s, err := l.storageOf(args[0])
	if err != nil {
		return nil, err
	}
	e, ok := elementOf(args[6])
	if !ok {
		return nil, errors.New("want an element type")
	}
	return l.view(s, e, args)
}

func (l *loader) view(s *storage, e element, args []pickle.Value) (pickle.Value, error) {
	offset, ok := args[1].(int64)
	if !ok {
		return nil, errors.New("the offset does not fit 64 bits")
	}
	shape, err := integers(args[2])
	if err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	strides, err := integers(args[3])
	if err != nil {
		return nil, fmt.Errorf("strides: %w", err)
	}
	if err := l.spend(4 + len(shape)); err != nil {
		return nil, err
	}
	return newTensor(s, e, offset, shape, strides)
}

func integers(v pickle.Value) ([]int64, error) {
	list, ok := items(v)
	if !ok || len(list) > maxRank {
		return nil, fmt.Errorf("want at most %d numbers", maxRank)
	}
	out := make([]int64, len(list))
	for i, x := range list {
		if out[i], ok = x.(int64); !ok {
			return nil, errors.New("want a number that fits 64 bits")
		}
	}
	return out, nil
}

// rebuildParameter returns its first argument, a tensor.
func rebuildParameter(_ *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) > 0 {
		if t, ok := args[0].(*tensor); ok {
			return t, nil
		}
	}
	return nil, errors.New("want a tensor")
}

// rebuildFromType implements _rebuild_from_type_v2(function, class, arguments, state), which builds
// a tensor of a subclass. It ignores the class.
func rebuildFromType(l *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("have %d arguments, want at least 3", len(args))
	}
	function, ok := args[0].(*pickle.Class)
	class, ok2 := args[1].(*pickle.Class)
	inner, ok3 := args[2].(*pickle.Tuple)
	if !ok || !ok2 || !ok3 || function.New == nil || function.Module != "torch._utils" {
		return nil, errors.New("want a function of torch._utils, a class and arguments")
	}
	delete(l.inert, class)
	v, err := function.New(inner.Items)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", function, err)
	}
	if _, ok := v.(*tensor); !ok {
		return nil, fmt.Errorf("%v does not return a tensor", function)
	}
	return v, nil
}
