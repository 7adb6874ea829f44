package vulkan

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

const (
	validationLayer      = "VK_LAYER_KHRONOS_validation"
	debugUtils           = "VK_EXT_debug_utils"
	portabilityInstances = "VK_KHR_portability_enumeration"
)

var errNoDriver = errors.New("no driver for Vulkan is installed")

// instance is the connection to Vulkan's loader and its drivers.
type instance struct {
	handle uintptr
	// version of the API, at most the loader's
	version uint32
	vk      instanceCommands
	// address of vkGetInstanceProcAddr
	lookup uintptr
	// messages of the validation layer, or nil without it
	log *messageLog

	// guards found
	examined sync.Mutex
	// nil until the devices have been examined
	found *survey
}

// connection holds the instance of the process. It is created once and never destroyed, because
// drivers take long to start.
var connection struct {
	sync.Mutex
	*instance
}

func connect() (*instance, error) {
	connection.Lock()
	defer connection.Unlock()
	if connection.instance == nil {
		in, err := newInstance(os.Getenv("BURNGEN_VULKAN_VALIDATION") == "1")
		if err != nil {
			return nil, err
		}
		connection.instance = in
	}
	return connection.instance, nil
}

func newInstance(validate bool) (*instance, error) {
	lookup, err := openLibrary()
	if err != nil {
		return nil, fmt.Errorf("there is no Vulkan: %w", err)
	}
	in := &instance{lookup: lookup, version: version(1, 3)}
	var loader loaderCommands
	if err := findCommands(&loader, lookup, 0); err != nil {
		return nil, err
	}
	var have uint32
	if err := loader.EnumerateInstanceVersion.try(uintptr(unsafe.Pointer(&have))); err != nil {
		return nil, err
	}
	if have < version(1, 2) {
		return nil, fmt.Errorf("the loader has Vulkan %s, want 1.2", versionText(have))
	}
	in.version = min(in.version, have)

	create := &instanceCreateInfo{
		sType: typeInstanceCreateInfo,
		application: &applicationInfo{
			sType: typeApplicationInfo, application: unsafe.Pointer(cString("burngen")), apiVersion: in.version,
		},
	}
	extensions, err := in.extensions(loader.EnumerateInstanceExtensionProperties, 0)
	if err != nil {
		return nil, err
	}
	var layers, want []string
	if slices.Contains(extensions, portabilityInstances) {
		want = append(want, portabilityInstances)
		create.flags |= instanceEnumeratePortability
	}
	if validate {
		layers, want = append(layers, validationLayer), append(want, debugUtils)
	}
	create.layerCount, create.layers = uint32(len(layers)), cStrings(layers)
	create.extensionCount, create.extensions = uint32(len(want)), cStrings(want)
	err = loader.CreateInstance.try(uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&in.handle)))
	if e := (*commandError)(nil); errors.As(err, &e) {
		switch e.result {
		case errorLayerNotPresent:
			return nil, fmt.Errorf("BURNGEN_VULKAN_VALIDATION is set, but the layer %s is not installed", validationLayer)
		case errorNoDriver:
			return nil, errNoDriver
		}
		return nil, err
	}
	if err := findCommands(&in.vk, lookup, in.handle); err != nil {
		return nil, err
	}
	if validate {
		if err := in.listen(); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// extensions returns the names of the extensions of a physical device or, if device is 0, of the
// instance. list enumerates them.
func (in *instance) extensions(list command, device uintptr) ([]string, error) {
	var count uint32
	read := func(to *extensionProperties) error {
		if device == 0 {
			return list.try(0, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(to)))
		}
		return list.try(device, 0, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(to)))
	}
	if err := read(nil); err != nil || count == 0 {
		return nil, err
	}
	found := make([]extensionProperties, count)
	if err := read(&found[0]); err != nil {
		return nil, err
	}
	names := make([]string, count)
	for i := range names {
		names[i] = goString(&found[i].name[0])
	}
	return names, nil
}

// listen makes the validation layer send its messages to a new log.
func (in *instance) listen() error {
	var vk debugCommands
	if err := findCommands(&vk, in.lookup, in.handle); err != nil {
		return err
	}
	in.log = &messageLog{}
	create := &debugMessengerCreateInfo{
		sType:      typeDebugMessengerCreateInfo,
		severities: debugWarning | debugError,
		types:      debugValidation,
		callback: callback(func(severity, types uint32, message *debugMessage, user unsafe.Pointer) uintptr {
			in.log.add(goString(message.text))
			return 0
		}),
	}
	var messenger handle
	err := vk.CreateDebugUtilsMessengerEXT.try(in.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&messenger)))
	runtime.KeepAlive(create)
	return err
}

// messageLog collects messages of the validation layer.
type messageLog struct {
	mu       sync.Mutex
	messages []string
}

func (l *messageLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, strings.Join(strings.Fields(text), " "))
}

// join adds the collected messages to the error *err, which may be nil, and removes them from
// the log. A nil log does nothing.
func (l *messageLog) join(err *error) {
	if l == nil {
		return
	}
	l.mu.Lock()
	messages := l.messages
	l.messages = nil
	l.mu.Unlock()
	switch text := strings.Join(messages, "; "); {
	case text == "":
	case *err == nil:
		*err = fmt.Errorf("vulkan: validation: %s", text)
	default:
		*err = fmt.Errorf("%w; validation: %s", *err, text)
	}
}
