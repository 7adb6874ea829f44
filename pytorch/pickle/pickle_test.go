package pickle

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// builtin knows the names that pickles of plain values mention.
func builtin(module, name string) (*Class, error) {
	c := &Class{Module: module, Name: name}
	switch module + "." + name {
	case "collections.OrderedDict":
		c.New = func(args []Value) (Value, error) {
			d := &Dict{}
			if len(args) == 1 {
				for _, p := range args[0].(*List).Items {
					pair := p.(*List).Items
					d.Set(pair[0], pair[1])
				}
			}
			return d, nil
		}
	case "__builtin__.set", "__builtin__.frozenset", "builtins.set", "builtins.frozenset":
		c.New = func(args []Value) (Value, error) { return &Set{args[0].(*List).Items}, nil }
	case "__builtin__.bytearray", "builtins.bytearray":
		c.New = func(args []Value) (Value, error) {
			if len(args) == 0 {
				return Bytes{}, nil
			}
			if s, ok := args[0].(string); ok {
				return narrow(s), nil
			}
			return args[0], nil
		}
	case "__builtin__.bytes", "builtins.bytes":
		c.New = func([]Value) (Value, error) { return Bytes{}, nil }
	case "_codecs.encode":
		c.New = func(args []Value) (Value, error) { return narrow(args[0].(string)), nil }
	default:
		return nil, errors.New("not known")
	}
	return c, nil
}

func narrow(s string) Bytes {
	b := Bytes{}
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

// plain returns a value as make.py writes it.
func plain(v Value) any {
	all := func(list []Value) any {
		texts := []any{}
		for _, x := range list {
			texts = append(texts, plain(x))
		}
		return texts
	}
	switch v := v.(type) {
	case int64:
		return map[string]any{"int": strconv.FormatInt(v, 10)}
	case *big.Int:
		return map[string]any{"int": v.String()}
	case float64:
		return map[string]any{"float": fmt.Sprintf("%016x", math.Float64bits(v))}
	case Bytes:
		return map[string]any{"bytes": hex.EncodeToString(v)}
	case *Tuple:
		return map[string]any{"tuple": all(v.Items)}
	case *List:
		return map[string]any{"list": all(v.Items)}
	case *Set:
		return map[string]any{"set": all(v.Items)}
	case *Dict:
		pairs := []any{}
		for i, k := range v.Keys {
			pairs = append(pairs, []any{plain(k), plain(v.Values[i])})
		}
		return map[string]any{"dict": pairs}
	}
	return v
}

// TestPython reads what Python pickled, see testdata/make.py.
func TestPython(t *testing.T) {
	file, err := os.ReadFile("testdata/pickles.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Protocol int
		Data     string
		Value    any
	}
	if err := json.Unmarshal(file, &cases); err != nil || len(cases) < 300 {
		t.Fatal(len(cases), err)
	}
	r := &Reader{Global: builtin}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%d protocol %d", i/6, c.Protocol), func(t *testing.T) {
			data, err := hex.DecodeString(c.Data)
			if err != nil {
				t.Fatal(err)
			}
			v, n, err := r.Read(append(data, "more"...))
			if err != nil {
				t.Fatal(err)
			}
			if n != len(data) {
				t.Errorf("read %d bytes of %d", n, len(data))
			}
			if d := cmp.Diff(c.Value, plain(v)); d != "" {
				t.Errorf("%.2000s", d)
			}
			for n := range min(len(data), 400) {
				if _, _, err := r.Read(data[:n]); err == nil {
					t.Fatalf("no error for %d of %d bytes", n, len(data))
				}
			}
		})
	}
}

func TestSharedIsShared(t *testing.T) {
	v, _, err := (&Reader{Global: builtin}).Read([]byte("]q\x00(h\x00h\x00e."))
	if err != nil {
		t.Fatal(err)
	}
	l := v.(*List)
	if len(l.Items) != 2 || l.Items[0] != v || l.Items[1] != v {
		t.Error(l)
	}
}

func TestKeysThatAreEqualInPython(t *testing.T) {
	d := &Dict{}
	for i, k := range []Value{int64(1), true, 1.0, "1", Bytes("1"), nil, 1.5} {
		d.Set(k, i)
	}
	if len(d.Keys) != 5 || d.Values[0] != 2 {
		t.Error(d.Keys, d.Values)
	}
	for i := range int64(100) {
		d.Set(i, i)
	}
	if v, ok := d.Get(true); !ok || v != int64(1) || len(d.Keys) != 5+99 {
		t.Error(v, ok, len(d.Keys))
	}
	if _, ok := d.Get("none"); ok {
		t.Error("a key that is not there")
	}
}

// Integers beyond 64 bits are equal to floats of the same value, but not to their digits.
func TestLargeKeys(t *testing.T) {
	power := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	d := &Dict{}
	for i, k := range []Value{power(70), new(big.Int).Neg(power(70)), power(70).String(), Bytes(power(70).Bytes()), int64(1 << 62), math.Inf(1)} {
		d.Set(k, i)
	}
	if len(d.Keys) != 6 {
		t.Fatal(d.Keys)
	}
	for i, k := range []Value{math.Ldexp(1, 70), math.Ldexp(-1, 70)} {
		if v, ok := d.Get(k); !ok || v != i {
			t.Error(k, v, ok)
		}
	}
	if v, ok := d.Get(math.Ldexp(1, 62)); !ok || v != 4 {
		t.Error(v, ok)
	}
}

// Many dicts with the same long key take memory for one such key.
func TestLongKey(t *testing.T) {
	const size, dicts = 1 << 18, 1000
	number := make([]byte, size)
	number[size-1] = 1
	for _, opcode := range []string{"B", "\x8b"} {
		var p bytes.Buffer
		p.WriteString(opcode)
		binary.Write(&p, binary.LittleEndian, uint32(size))
		p.Write(number)
		p.WriteString("q\x000]")
		for range dicts {
			p.WriteString("}(")
			for i := range byte(manyKeys) {
				p.Write([]byte{'K', i, 'N'})
			}
			p.WriteString("h\x00Nua")
		}
		p.WriteByte('.')
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, _, err := (&Reader{}).Read(p.Bytes())
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if list := v.(*List).Items; len(list) != dicts || len(list[dicts-1].(*Dict).Keys) != manyKeys+1 {
			t.Error(len(list))
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > dicts*size/10 {
			t.Errorf("%q: %d bytes", opcode, made)
		}
	}
}

func TestGlobalIsAsked(t *testing.T) {
	var asked []string
	r := &Reader{Global: func(module, name string) (*Class, error) {
		asked = append(asked, module+"."+name)
		return nil, errors.New("refused here")
	}}
	for _, p := range []string{"cos\nsystem\n.", "X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93.", "(ios\nsystem\n."} {
		if _, _, err := r.Read([]byte(p)); err == nil || !strings.Contains(err.Error(), "refused here") {
			t.Errorf("%q: %v", p, err)
		}
	}
	if strings.Join(asked, " ") != "os.system os.system os.system" {
		t.Error(asked)
	}
}

// A persistent object is named by a line, or by the value on the stack.
func TestPersistent(t *testing.T) {
	r := &Reader{Persistent: func(id Value) (Value, error) {
		if id != "key" {
			return nil, errors.New("no such object")
		}
		return int64(7), nil
	}}
	for _, p := range []string{"Pkey\n.", "X\x03\x00\x00\x00keyQ."} {
		if v, _, err := r.Read([]byte(p)); err != nil || v != int64(7) {
			t.Errorf("%q: %v, %v", p, v, err)
		}
		if _, _, err := (&Reader{}).Read([]byte(p)); err == nil || !strings.Contains(err.Error(), "may not have persistent objects") {
			t.Errorf("%q without persistent objects: %v", p, err)
		}
	}
	if _, _, err := r.Read([]byte("Pother\n.")); err == nil || !strings.Contains(err.Error(), "no such object") {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	file, err := os.ReadFile("testdata/pickles.json")
	if err != nil {
		f.Fatal(err)
	}
	var cases []struct{ Data string }
	if err := json.Unmarshal(file, &cases); err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if data, err := hex.DecodeString(c.Data); err == nil && len(data) < 200 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Reader{
			Global: func(module, name string) (*Class, error) {
				return &Class{module, name, func([]Value) (Value, error) { return &Dict{}, nil }}, nil
			},
			Persistent: func(id Value) (Value, error) { return &List{}, nil },
		}
		if _, n, err := r.Read(data); err == nil && (n <= 0 || n > len(data)) {
			t.Fatal(n)
		}
	})
}
