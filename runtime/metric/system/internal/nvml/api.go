package nvml

// Result is an nvmlReturn_t.
type Result int32

// Results of functions.
const (
	Success         Result = 0
	Uninitialized   Result = 1
	InvalidArgument Result = 2
	NotSupported    Result = 3
	DriverNotLoaded Result = 9
	Lost            Result = 15
)

// Device is an nvmlDevice_t.
type Device uintptr

// Utilization is an nvmlUtilization_t, in percent of the last second or less.
type Utilization struct {
	GPU    uint32 // time in which a kernel ran
	Memory uint32 // time in which memory was read or written
}

// Memory is an nvmlMemory_t, in bytes.
type Memory struct {
	Total, Free uint64
	Used        uint64 // includes memory that the driver reserves
}

// Core is NVML_TEMPERATURE_GPU, the sensor of a card's processor.
const Core = 0

// API holds functions of NVML. They may be called from any thread.
type API struct {
	Init                 func() Result
	Shutdown             func() Result
	DeviceGetCount       func(count *uint32) Result
	DeviceGetHandle      func(index uint32, device *Device) Result
	DeviceGetUtilization func(device Device, use *Utilization) Result
	DeviceGetMemory      func(device Device, memory *Memory) Result
	DeviceGetTemperature func(device Device, sensor uint32, celsius *uint32) Result
	DeviceGetPower       func(device Device, milliwatts *uint32) Result
}

// Function is a function of an API.
type Function struct {
	Name string // in the library
	Go   any    // pointer to the field of the API
}

// Functions lists the functions of an API.
func (a *API) Functions() []Function {
	return []Function{
		{"nvmlInit_v2", &a.Init},
		{"nvmlShutdown", &a.Shutdown},
		{"nvmlDeviceGetCount_v2", &a.DeviceGetCount},
		{"nvmlDeviceGetHandleByIndex_v2", &a.DeviceGetHandle},
		{"nvmlDeviceGetUtilizationRates", &a.DeviceGetUtilization},
		{"nvmlDeviceGetMemoryInfo", &a.DeviceGetMemory},
		{"nvmlDeviceGetTemperature", &a.DeviceGetTemperature},
		{"nvmlDeviceGetPowerUsage", &a.DeviceGetPower},
	}
}
