package wire

import (
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// fill sets fields of m to drawn values, messages down to the given depth.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Message() != nil && depth == 0 || !rapid.Bool().Draw(t, "has "+f.TextName()) {
			continue
		}
		if f.IsList() {
			list := m.Mutable(f).List()
			for range rapid.IntRange(0, 2).Draw(t, "len") {
				if f.Message() != nil {
					e := list.NewElement()
					fill(t, e.Message(), depth-1)
					list.Append(e)
				} else {
					list.Append(scalar(t, f))
				}
			}
		} else if f.Message() != nil {
			fill(t, m.Mutable(f).Message(), depth-1)
		} else {
			m.Set(f, scalar(t, f))
		}
	}
}

func scalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	name := f.TextName()
	switch f.Kind() {
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, name))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, name))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, name))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rapid.Float32().Draw(t, name))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, name))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(0, 15).Draw(t, name)))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.StringN(0, 3, 9).Draw(t, name))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, name))
	}
	t.Fatalf("no values of kind %v", f.Kind())
	return protoreflect.Value{}
}

// scramble encodes b again as other bytes with the same meaning. It reorders fields of different
// numbers, inserts unknown fields, splits or unpacks packed lists, splits messages that are merged,
// and puts other scalars before scalars. It changes only fields of d, to any depth.
func scramble(rng *rand.Rand, d protoreflect.MessageDescriptor, b []byte) []byte {
	pieces := map[protowire.Number][][]byte{}
	var order []protowire.Number
	put := func(num protowire.Number, record []byte) {
		pieces[num] = append(pieces[num], record)
		order = append(order, num)
	}
	unknown := func() {
		put(1000, protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), rng.Uint64()))
	}
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			panic(err)
		}
		record := b[:len(b)-len(rest)]
		b = rest
		fd := d.Fields().ByNumber(f.num)
		switch {
		case fd == nil:
			put(f.num, record)
		case fd.IsList() && fd.Message() == nil && fd.Kind() != protoreflect.StringKind && fd.Kind() != protoreflect.BytesKind:
			// One value after the other, each packed alone or not packed.
			wire := wireType(fd.Kind())
			err := each(wire, f, func(v uint64) {
				one := appendValue(nil, wire, v)
				if rng.IntN(2) == 0 {
					one = append(protowire.AppendTag(nil, f.num, wire), one...)
				} else {
					one = protowire.AppendBytes(protowire.AppendTag(nil, f.num, protowire.BytesType), one)
				}
				put(f.num, one)
			})
			if err != nil {
				panic(err)
			}
		case fd.Message() != nil && !fd.IsList() && fd.ContainingOneof() == nil:
			inner := scramble(rng, fd.Message(), f.data)
			cut := 0 // a place between two fields
			for rng.IntN(3) > 0 && cut < len(inner) {
				_, tail, err := next(inner[cut:])
				if err != nil {
					panic(err)
				}
				cut = len(inner) - len(tail)
			}
			for _, half := range [][]byte{inner[:cut], inner[cut:]} {
				put(f.num, protowire.AppendBytes(protowire.AppendTag(nil, f.num, protowire.BytesType), half))
			}
		case fd.Message() != nil:
			put(f.num, protowire.AppendBytes(protowire.AppendTag(nil, f.num, protowire.BytesType), scramble(rng, fd.Message(), f.data)))
		case !fd.IsList() && fd.Kind() == protoreflect.Int64Kind:
			put(f.num, protowire.AppendVarint(protowire.AppendTag(nil, f.num, protowire.VarintType), rng.Uint64()))
			put(f.num, record)
		default:
			put(f.num, record)
		}
		if rng.IntN(4) == 0 {
			unknown()
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var out []byte
	for _, num := range order {
		out = append(out, pieces[num][0]...)
		pieces[num] = pieces[num][1:]
	}
	return out
}

func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

func appendValue(b []byte, typ protowire.Type, v uint64) []byte {
	switch typ {
	case protowire.Fixed32Type:
		return protowire.AppendFixed32(b, uint32(v))
	case protowire.Fixed64Type:
		return protowire.AppendFixed64(b, v)
	}
	return protowire.AppendVarint(b, v)
}

// TestRandomModels reads models with random fields with this package and with protobuf, as protobuf
// writes them and scrambled. The results must be the same.
func TestRandomModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := new(pb.ModelProto)
		fill(t, m.ProtoReflect(), 6)
		if m.Graph == nil {
			m.Graph = new(pb.GraphProto)
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		for _, b := range [][]byte{b, scramble(rand.New(rand.NewPCG(seed, 0)), m.ProtoReflect().Descriptor(), b)} {
			got, err := ReadModel(b, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkTwin(t, b, got, new(pb.ModelProto), modelTwin)
		}
	})
}

// TestRandomValues does the same for the values of test data.
func TestRandomValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, o, m := new(pb.SequenceProto), new(pb.OptionalProto), new(pb.MapProto)
		checkValue(t, s, ReadSequence, sequenceTwin)
		checkValue(t, o, ReadOptional, optionalTwin)
		checkValue(t, m, ReadMap, mapTwin)
	})
}

func checkValue[S any, P proto.Message](t *rapid.T, p P, read func([]byte, Limits) (*S, error), twin func(P) S) {
	fill(t, p.ProtoReflect(), 4)
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkTwin(t, b, got, p, twin)
}
