package spirv

import "fmt"

// form is the name of an instruction, and its operands as [Check] reads them.
//
// The letters stand for a type (t), a result (r), an id (i), a literal (n), a string (s) and optional memory
// operands (m). If the last letter is a capital, its operand may occur any number of times. A last "II" stands for
// any number of pairs of ids.
type form struct{ name, operands string }

// grammar lists the instructions that modules may have, by their numbers.
var grammar = map[uint32]form{
	3:   {"Source", "nnis"},
	5:   {"Name", "is"},
	6:   {"MemberName", "ins"},
	7:   {"String", "rs"},
	11:  {"ExtInstImport", "rs"},
	12:  {"ExtInst", "trinI"},
	14:  {"MemoryModel", "nn"},
	15:  {"EntryPoint", "nisI"},
	16:  {"ExecutionMode", "inN"},
	17:  {"Capability", "n"},
	19:  {"TypeVoid", "r"},
	20:  {"TypeBool", "r"},
	21:  {"TypeInt", "rnn"},
	22:  {"TypeFloat", "rn"},
	23:  {"TypeVector", "rin"},
	28:  {"TypeArray", "rii"},
	29:  {"TypeRuntimeArray", "ri"},
	30:  {"TypeStruct", "rI"},
	32:  {"TypePointer", "rni"},
	33:  {"TypeFunction", "ri"},
	41:  {"ConstantTrue", "tr"},
	42:  {"ConstantFalse", "tr"},
	43:  {"Constant", "trN"},
	54:  {"Function", "trni"},
	56:  {"FunctionEnd", ""},
	59:  {"Variable", "trn"},
	61:  {"Load", "trim"},
	62:  {"Store", "iim"},
	65:  {"AccessChain", "triI"},
	71:  {"Decorate", "inN"},
	72:  {"MemberDecorate", "innN"},
	80:  {"CompositeConstruct", "trI"},
	81:  {"CompositeExtract", "trin"},
	109: {"ConvertFToU", "tri"},
	110: {"ConvertFToS", "tri"},
	111: {"ConvertSToF", "tri"},
	112: {"ConvertUToF", "tri"},
	113: {"UConvert", "tri"},
	114: {"SConvert", "tri"},
	115: {"FConvert", "tri"},
	124: {"Bitcast", "tri"},
	126: {"SNegate", "tri"},
	127: {"FNegate", "tri"},
	128: {"IAdd", "trii"},
	129: {"FAdd", "trii"},
	130: {"ISub", "trii"},
	131: {"FSub", "trii"},
	132: {"IMul", "trii"},
	133: {"FMul", "trii"},
	134: {"UDiv", "trii"},
	135: {"SDiv", "trii"},
	136: {"FDiv", "trii"},
	137: {"UMod", "trii"},
	164: {"LogicalEqual", "trii"},
	165: {"LogicalNotEqual", "trii"},
	166: {"LogicalOr", "trii"},
	167: {"LogicalAnd", "trii"},
	168: {"LogicalNot", "tri"},
	169: {"Select", "triii"},
	170: {"IEqual", "trii"},
	171: {"INotEqual", "trii"},
	172: {"UGreaterThan", "trii"},
	173: {"SGreaterThan", "trii"},
	174: {"UGreaterThanEqual", "trii"},
	175: {"SGreaterThanEqual", "trii"},
	176: {"ULessThan", "trii"},
	177: {"SLessThan", "trii"},
	178: {"ULessThanEqual", "trii"},
	179: {"SLessThanEqual", "trii"},
	180: {"FOrdEqual", "trii"},
	183: {"FUnordNotEqual", "trii"},
	184: {"FOrdLessThan", "trii"},
	186: {"FOrdGreaterThan", "trii"},
	188: {"FOrdLessThanEqual", "trii"},
	190: {"FOrdGreaterThanEqual", "trii"},
	194: {"ShiftRightLogical", "trii"},
	195: {"ShiftRightArithmetic", "trii"},
	196: {"ShiftLeftLogical", "trii"},
	197: {"BitwiseOr", "trii"},
	198: {"BitwiseXor", "trii"},
	199: {"BitwiseAnd", "trii"},
	200: {"Not", "tri"},
	224: {"ControlBarrier", "iii"},
	227: {"AtomicLoad", "triii"},
	229: {"AtomicExchange", "triiii"},
	230: {"AtomicCompareExchange", "triiiiii"},
	234: {"AtomicIAdd", "triiii"},
	236: {"AtomicSMin", "triiii"},
	237: {"AtomicUMin", "triiii"},
	238: {"AtomicSMax", "triiii"},
	239: {"AtomicUMax", "triiii"},
	240: {"AtomicAnd", "triiii"},
	241: {"AtomicOr", "triiii"},
	245: {"Phi", "trII"},
	246: {"LoopMerge", "iinN"},
	247: {"SelectionMerge", "in"},
	248: {"Label", "r"},
	249: {"Branch", "i"},
	250: {"BranchConditional", "iii"},
	253: {"Return", ""},
}

type instruction struct {
	form
	at       int    // the word at which it begins
	typ      uint32 // the id of its type, or 0
	result   uint32 // the id of its result, or 0
	ids      []uint32
	literals []uint32 // literals and memory operands
	text     string
}

func (in *instruction) String() string {
	if in.result != 0 {
		return fmt.Sprintf("word %d: %%%d = Op%s", in.at, in.result, in.name)
	}
	return fmt.Sprintf("word %d: Op%s", in.at, in.name)
}

func (in *instruction) wrong(format string, args ...any) error {
	return fmt.Errorf("%s: %s", in, fmt.Sprintf(format, args...))
}

// read reads the instructions of a module, which follow a header of 5 words.
func read(words []uint32) ([]*instruction, error) {
	var all []*instruction
	for at := 5; at < len(words); {
		n := int(words[at] >> 16)
		f, ok := grammar[words[at]&0xffff]
		switch {
		case !ok:
			return nil, fmt.Errorf("word %d: unknown instruction %d", at, words[at]&0xffff)
		case n == 0 || at+n > len(words):
			return nil, fmt.Errorf("word %d: Op%s has %d words, %d are left", at, f.name, n, len(words)-at)
		}
		in := &instruction{form: f, at: at}
		if err := in.read(words[at+1 : at+n]); err != nil {
			return nil, err
		}
		all = append(all, in)
		at += n
	}
	return all, nil
}

func (in *instruction) read(words []uint32) error {
	take := func() uint32 {
		w := words[0]
		words = words[1:]
		return w
	}
	form := in.operands
	for i := 0; i < len(form); i++ {
		switch letter := form[i]; {
		case letter == 'm' && len(words) == 0:
		case letter == 'I' || letter == 'N':
			pairs := i+1 < len(form)
			if pairs && len(words)%2 != 0 {
				return in.wrong("its operands are not pairs")
			}
			for len(words) > 0 {
				if letter == 'I' {
					in.ids = append(in.ids, take())
				} else {
					in.literals = append(in.literals, take())
				}
			}
			return nil
		case len(words) == 0:
			return in.wrong("it has too few operands")
		case letter == 't':
			in.typ = take()
		case letter == 'r':
			in.result = take()
		case letter == 'i':
			in.ids = append(in.ids, take())
		case letter == 'n':
			in.literals = append(in.literals, take())
		case letter == 'm':
			in.literals = append(in.literals, words...)
			words = nil
		case letter == 's':
			ended := false
			for !ended {
				if len(words) == 0 {
					return in.wrong("a string does not end")
				}
				w := take()
				for range 4 {
					b := byte(w)
					w >>= 8
					switch {
					case b == 0:
						ended = true
					case ended:
						return in.wrong("a string goes on after its end")
					default:
						in.text += string(rune(b))
					}
				}
			}
		}
	}
	if len(words) > 0 {
		return in.wrong("it has too many operands")
	}
	return nil
}
