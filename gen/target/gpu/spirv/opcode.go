package spirv

// Numbers of the SPIR-V specification that the writer uses.
const (
	magic   = 0x07230203
	version = 0x00010500 // 1.5, which Vulkan 1.2 accepts
)

// Instructions.
const (
	opSource                = 3
	opName                  = 5
	opMemberName            = 6
	opString                = 7
	opExtInstImport         = 11
	opExtInst               = 12
	opMemoryModel           = 14
	opEntryPoint            = 15
	opExecutionMode         = 16
	opCapability            = 17
	opTypeVoid              = 19
	opTypeBool              = 20
	opTypeInt               = 21
	opTypeFloat             = 22
	opTypeVector            = 23
	opTypeArray             = 28
	opTypeRuntimeArray      = 29
	opTypeStruct            = 30
	opTypePointer           = 32
	opTypeFunction          = 33
	opConstantTrue          = 41
	opConstantFalse         = 42
	opConstant              = 43
	opFunction              = 54
	opFunctionEnd           = 56
	opVariable              = 59
	opLoad                  = 61
	opStore                 = 62
	opAccessChain           = 65
	opDecorate              = 71
	opMemberDecorate        = 72
	opCompositeConstruct    = 80
	opCompositeExtract      = 81
	opConvertFToU           = 109
	opConvertFToS           = 110
	opConvertSToF           = 111
	opConvertUToF           = 112
	opUConvert              = 113
	opSConvert              = 114
	opFConvert              = 115
	opBitcast               = 124
	opSNegate               = 126
	opFNegate               = 127
	opIAdd                  = 128
	opFAdd                  = 129
	opISub                  = 130
	opFSub                  = 131
	opIMul                  = 132
	opFMul                  = 133
	opUDiv                  = 134
	opSDiv                  = 135
	opFDiv                  = 136
	opUMod                  = 137
	opLogicalEqual          = 164
	opLogicalNotEqual       = 165
	opLogicalOr             = 166
	opLogicalAnd            = 167
	opLogicalNot            = 168
	opSelect                = 169
	opIEqual                = 170
	opINotEqual             = 171
	opUGreaterThan          = 172
	opSGreaterThan          = 173
	opUGreaterThanEqual     = 174
	opSGreaterThanEqual     = 175
	opULessThan             = 176
	opSLessThan             = 177
	opULessThanEqual        = 178
	opSLessThanEqual        = 179
	opFOrdEqual             = 180
	opFUnordNotEqual        = 183
	opFOrdLessThan          = 184
	opFOrdGreaterThan       = 186
	opFOrdLessThanEqual     = 188
	opFOrdGreaterThanEqual  = 190
	opShiftRightLogical     = 194
	opShiftRightArithmetic  = 195
	opShiftLeftLogical      = 196
	opBitwiseOr             = 197
	opBitwiseXor            = 198
	opBitwiseAnd            = 199
	opNot                   = 200
	opControlBarrier        = 224
	opAtomicLoad            = 227
	opAtomicExchange        = 229
	opAtomicCompareExchange = 230
	opAtomicIAdd            = 234
	opAtomicSMin            = 236
	opAtomicUMin            = 237
	opAtomicSMax            = 238
	opAtomicUMax            = 239
	opAtomicAnd             = 240
	opAtomicOr              = 241
	opPhi                   = 245
	opLoopMerge             = 246
	opSelectionMerge        = 247
	opLabel                 = 248
	opBranch                = 249
	opBranchConditional     = 250
	opReturn                = 253
)

// Instructions of the set GLSL.std.450.
const (
	glslRoundEven = 2
	glslTrunc     = 3
	glslFAbs      = 4
	glslFloor     = 8
	glslCeil      = 9
	glslSqrt      = 31
	glslFma       = 50
)

// Capabilities.
const (
	capShader                         = 1
	capFloat64                        = 10
	capInt64                          = 11
	capInt64Atomics                   = 12
	capInt16                          = 22
	capInt8                           = 39
	capStorageBuffer16BitAccess       = 4433
	capStorageBuffer8BitAccess        = 4448
	capDenormPreserve                 = 4464
	capSignedZeroInfNanPreserve       = 4466
	capRoundingModeRTE                = 4467
	capPhysicalStorageBufferAddresses = 5347
)

// Classes of memory.
const (
	classInput                 = 1
	classWorkgroup             = 4
	classPushConstant          = 9
	classPhysicalStorageBuffer = 5349
)

// Decorations.
const (
	decorationBlock         = 2
	decorationArrayStride   = 6
	decorationBuiltIn       = 11
	decorationOffset        = 35
	decorationNoContraction = 42
)

// Other operands.
const (
	addressingPhysicalStorageBuffer64 = 5348
	memoryGLSL450                     = 1
	modelGLCompute                    = 5
	modeLocalSize                     = 17
	modeDenormPreserve                = 4459
	modeSignedZeroInfNanPreserve      = 4461
	modeRoundingModeRTE               = 4462
	builtInWorkgroupID                = 26
	builtInLocalInvocationID          = 27
	accessAligned                     = 2
	loopUnroll                        = 1
	loopPartialCount                  = 0x100
	scopeDevice                       = 1
	scopeWorkgroup                    = 2
	semanticsRelaxed                  = 0
	semanticsAcquireRelease           = 0x8
	semanticsUniformMemory            = 0x40
	semanticsWorkgroupMemory          = 0x100
)
