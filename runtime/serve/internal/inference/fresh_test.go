package inference

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestFresh asserts that the Go files have the messages and the services of inference.proto.
func TestFresh(t *testing.T) {
	text, err := os.ReadFile("inference.proto")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	file := File_runtime_serve_internal_inference_inference_proto
	fmt.Fprintf(&b, "syntax = \"%v\"; package %s; option go_package = \"github.com/burngen/burngen/runtime/serve/internal/inference\";", file.Syntax(), file.Package())
	for i := range file.Services().Len() {
		printService(&b, file.Services().Get(i))
	}
	printMessages(&b, file.Messages())
	if got, want := plain(b.String()), plain(string(text)); got != want {
		t.Errorf("run go generate: the Go files have\n%s\nand inference.proto has\n%s", got, want)
	}
	var methods []string
	for _, m := range GRPCInferenceService_ServiceDesc.Methods {
		methods = append(methods, m.MethodName)
	}
	service := file.Services().Get(0)
	for i := range service.Methods().Len() {
		if i >= len(methods) || methods[i] != string(service.Methods().Get(i).Name()) {
			t.Errorf("inference_grpc.pb.go has the methods %q", methods)
			break
		}
	}
}

var (
	comments = regexp.MustCompile(`//[^\n]*\n`)
	spaces   = regexp.MustCompile(`\s+`)
)

// plain returns the text of a definition without comments, one declaration a line.
func plain(text string) string {
	text = comments.ReplaceAllString("\n"+text, "\n")
	text = strings.NewReplacer("; ", ";\n", "{ ", "{\n", "} ", "}\n").Replace(spaces.ReplaceAllString(text, " ") + " ")
	return strings.TrimSpace(text)
}

func printService(b *strings.Builder, s protoreflect.ServiceDescriptor) {
	fmt.Fprintf(b, " service %s {", s.Name())
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		fmt.Fprintf(b, " rpc %s(%s) returns (%s) {}", m.Name(), m.Input().Name(), m.Output().Name())
	}
	b.WriteString(" }")
}

func printMessages(b *strings.Builder, list protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		m := list.Get(i)
		if m.IsMapEntry() {
			continue
		}
		fmt.Fprintf(b, " message %s {", m.Name())
		printMessages(b, m.Messages())
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			of := f.ContainingOneof()
			if of != nil && of.Fields().Get(0) == f {
				fmt.Fprintf(b, " oneof %s {", of.Name())
			}
			fmt.Fprintf(b, " %s %s = %d;", typeOf(f), f.Name(), f.Number())
			if of != nil && of.Fields().Get(of.Fields().Len()-1) == f {
				b.WriteString(" }")
			}
		}
		if m.Fields().Len() == 0 {
			b.WriteString("}")
		} else {
			b.WriteString(" }")
		}
	}
}

func typeOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return fmt.Sprintf("map<%s, %s>", typeOf(f.MapKey()), typeOf(f.MapValue()))
	case f.IsList():
		return "repeated " + element(f)
	}
	return element(f)
}

func element(f protoreflect.FieldDescriptor) string {
	if f.Kind() == protoreflect.MessageKind {
		return string(f.Message().Name())
	}
	return f.Kind().String()
}
