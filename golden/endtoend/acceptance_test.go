package endtoend

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/module"
)

// acceptance has a row for each check in the reference documents: the expected result, and the
// tests. The tests are in a package of the repository, or in the module that TestAcceptance makes
// from testdata/acceptance.
var acceptance = []struct{ check, expected, folder, tests string }{
	{"2×2 sum of [[2,3],[4,5]] and ones", "[[3,4],[5,6]] and the printed header", "ir/nn", "TestDocumentedValues/the_sum_of_two_matrices"},
	{"min-max of [1,2,3,4]", "[0, .3333, .6667, 1]", "ir/nn", "TestDocumentedValues/from_the_least_to_the_greatest_of_four"},
	{"min-max of [2,4,6,8,10]", "[0, .25, .5, .75, 1]", "ir/nn", "TestDocumentedValues/from_the_least_to_the_greatest_of_five"},
	{"identity, int and bool creation, softmax of exp and sum", "values", "ir/nn", "TestDocumentedValues/creation TestDocumentedValues/softmax_by_hand"},
	{"d/dx Σx² at [1,2,3]", "[2,4,6]", "ir/nn", "TestDocumentedValues/the_gradient_of_squares"},
	{"gradient of a squared error for w", "2(ŷ-y)x", "ir/nn", "TestDocumentedValues/the_gradient_of_a_squared_error"},
	{"configuration: default, override, save, load", "equal", "", "TestConfiguration"},
	{"MLP 10-64-32-3 on [16,10]", "shape [16,3]", "", "TestMLP"},
	{"CNN 1→16→32→10 on [4,1,28,28]", "shape [4,10]", "", "TestCNN"},
	{"cross entropy of the library and by hand", "close", "ir/nn", "TestDocumentedValues/cross_entropy_by_hand"},
	{"data of exclusive or, batches of 16, one epoch", "shapes", "", "TestBatchesOfExclusiveOr"},
	{"one step of Adam", "lowers the loss", "examples/xor", "TestOneStepLowersTheLoss"},
	{"exclusive or, 2-16-16-2, rate 1e-3, 50 epochs, batches of 32, seed 42", "0,1,1,0", "examples/xor", "TestLearnsExclusiveOr"},
	{"save in half precision, read again", "same predictions, a smaller file", "examples/xor", "TestReadsWhatItSaved"},
	{"MNIST guide", "trains, predicts item 42", "examples/mnist", "TestLearnsToReadDrawnDigits"},
	{"PyTorch's Net, its second convolution without bias, and a prefix", "loads", "", "TestPyTorchNet"},
	{"a variant by its keys, dconv and pconv", "picks the variant", "", "TestVariant"},
	{"fused product, sum and ReLU, and the reference", "equal, forward and backward", "examples/custom/fused", "TestForward TestGradients"},
	{"32×32 exp((x+y)·x), gradient of y, with fusion", "equal", "", "TestFusion"},
}

// TestAcceptance runs the tests of the table.
func TestAcceptance(t *testing.T) {
	module.Long(t)
	m := module.New(t)
	m.RequireAll(t)
	m.Copy(t, ".", "acceptance/acceptance_test.go", "acceptance/expected.json",
		"acceptance/conv2d.pt", "acceptance/key_remap.pt", "acceptance/variant.pt")
	m.Copy(t, "describe/experiment", "acceptance/experiment/experiment.go")
	m.Generate(t, "", m.Path("describe/experiment"))
	for _, g := range []struct{ name, of, set string }{
		{"mlp", "mlp", ""}, {"cnn", "cnn", ""}, {"net", "net", ""}, {"fusion", "fusion", ""},
		{"plain", "variant", "Separable=false"}, {"separable", "variant", "Separable=true"},
	} {
		m.Copy(t, "describe/"+g.of, "acceptance/"+g.of+"/model.go")
		var flags []string
		if g.set != "" {
			flags = []string{"-set", g.set}
		}
		m.Generate(t, g.name, m.Path("describe/"+g.of), flags...)
	}
	m.Run(t, nil, "vet", "./...")
	passed := map[string]string{"": m.Run(t, nil, "test", "-v", ".")} // the output of go test for each folder
	for _, row := range acceptance {
		if _, ok := passed[row.folder]; !ok {
			passed[row.folder] = module.Output(t, goTest(row.folder))
		}
		t.Run(row.check+": "+row.expected, func(t *testing.T) {
			for _, test := range strings.Fields(row.tests) {
				if !strings.Contains(passed[row.folder], "--- PASS: "+test+" (") {
					t.Errorf("%s of %q did not pass:\n%s", test, row.folder, passed[row.folder])
				}
			}
		})
	}
}

// goTest returns a run of the tests that the table has in a folder of the repository.
func goTest(folder string) *exec.Cmd {
	var names []string
	for _, row := range acceptance {
		if row.folder == folder {
			for _, test := range strings.Fields(row.tests) {
				name, _, _ := strings.Cut(test, "/")
				names = append(names, name)
			}
		}
	}
	c := exec.Command("go", "test", "-v", "-run", "^("+strings.Join(names, "|")+")$", "./"+folder)
	c.Dir = module.Root
	return c
}
