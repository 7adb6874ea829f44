// Runs a model in ONNX Runtime's C API at the command of compare.mjs. The protocol
// is that of worker/worker.go, the files those of tensors/tensors.go.
//
//   ort LIBRARY MODEL.onnx THREADS INPUTS OUTPUTS [SYMBOL=N ...]
//
// The library's functions are members of a table whose order is part of its
// interface: they are declared here by position, with the types that its
// documentation gives them.

#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { interface = 17 }; // the oldest version of the table that is asked for

// Positions in the table.
enum {
	get_error_message = 2,
	create_env = 3,
	create_session = 7,
	run = 9,
	create_session_options = 10,
	set_execution_mode = 13,
	set_optimization = 23,
	set_intra_threads = 24,
	set_inter_threads = 25,
	output_count = 31,
	output_name = 37,
	create_tensor = 49,
	tensor_data = 51,
	element_type = 60,
	rank = 61,
	extents = 62,
	element_count = 64,
	type_and_shape = 65,
	value_type = 67,
	cpu_memory = 69,
	default_allocator = 78,
	release_status = 93,
	release_value = 96,
	override_symbol = 124,
};

typedef struct {
	void **(*table)(uint32_t);
	const char *(*version)(void);
} base;

static void **api;

// F is a member of the table as a function that returns R.
#define F(position, R, ...) ((R(*)(__VA_ARGS__))api[position])

static void fail(const char *what, const char *why) {
	fprintf(stderr, "ort: %s: %s\n", what, why);
	exit(1);
}

// check ends the program when a call returned a status.
static void check(const char *what, void *status) {
	if (status) fail(what, F(get_error_message, const char *, void *)(status));
}

// The element types, by their numbers in ONNX.
static const struct {
	const char *name;
	int size;
} types[] = {
	[1] = {"float32", 4}, [2] = {"uint8", 1}, [3] = {"int8", 1}, [4] = {"uint16", 2}, [5] = {"int16", 2}, [6] = {"int32", 4}, [7] = {"int64", 8},
	[9] = {"bool", 1}, [10] = {"float16", 2}, [11] = {"float64", 8}, [12] = {"uint32", 4}, [13] = {"uint64", 8}, [16] = {"bfloat16", 2},
};
enum { ntypes = sizeof types / sizeof *types, max_rank = 16, max_line = 1 << 16 };

static int type_number(const char *name) {
	for (int i = 0; i < ntypes; i++)
		if (types[i].name && !strcmp(types[i].name, name)) return i;
	fail(name, "unknown element type");
	return 0;
}

static void *allocate(size_t n) {
	void *p = calloc(n ? n : 1, 1);
	if (!p) fail("memory", "none left");
	return p;
}

typedef struct {
	size_t count;
	char **names;
	void **values;
} values;

// read_inputs returns the tensors of a file.
static values read_inputs(const char *path) {
	FILE *f = fopen(path, "rb");
	static char line[max_line];
	values v = {0};
	if (!f || !fgets(line, max_line, f)) fail(path, "cannot be read");
	v.count = strtoul(line, NULL, 10);
	v.names = allocate(v.count * sizeof *v.names);
	v.values = allocate(v.count * sizeof *v.values);
	struct {
		int type;
		size_t bytes, rank;
		int64_t dims[max_rank];
	} *head = allocate(v.count * sizeof *head);
	for (size_t i = 0; i < v.count; i++) {
		char type[32];
		int used, more;
		if (!fgets(line, max_line, f) || sscanf(line, "%31s %zu %zu%n", type, &head[i].bytes, &head[i].rank, &used) != 3 || head[i].rank > max_rank) fail(path, "not a file of tensors");
		for (size_t k = 0; k < head[i].rank; k++, used += more) {
			long long d;
			if (sscanf(line + used, "%lld%n", &d, &more) != 1) fail(path, "not a file of tensors");
			head[i].dims[k] = d;
		}
		line[strcspn(line, "\n")] = 0;
		v.names[i] = strdup(line + used + 1);
		head[i].type = type_number(type);
	}
	void *memory;
	check("memory", F(cpu_memory, void *, int, int, void **)(0, 0, &memory));
	for (size_t i = 0; i < v.count; i++) {
		size_t n = head[i].bytes;
		void *data = aligned_alloc(64, (n + 64) / 64 * 64);
		if (!data || fread(data, 1, n, f) != n) fail(path, "too short");
		check(v.names[i], F(create_tensor, void *, void *, void *, size_t, const int64_t *, size_t, int, void **)(memory, data, n, head[i].dims, head[i].rank, head[i].type, &v.values[i]));
	}
	free(head);
	fclose(f);
	return v;
}

// is_tensor reports whether a value is a tensor of elements that files hold.
static int is_tensor(void *value) {
	int kind, type;
	void *info;
	check("output", F(value_type, void *, void *, int *)(value, &kind));
	if (kind != 1) return 0;
	check("output", F(type_and_shape, void *, void *, void **)(value, &info));
	check("output", F(element_type, void *, void *, int *)(info, &type));
	return type < ntypes && types[type].name;
}

static void write_outputs(const char *path, values v) {
	FILE *f = fopen(path, "wb");
	if (!f) fail(path, "cannot be written");
	size_t *bytes = allocate(v.count * sizeof *bytes);
	fprintf(f, "%zu\n", v.count);
	for (size_t i = 0; i < v.count; i++) {
		if (!is_tensor(v.values[i])) {
			fprintf(f, "other 0 0 %s\n", v.names[i]);
			continue;
		}
		void *info;
		int type;
		size_t n, r;
		int64_t dims[max_rank];
		check("output", F(type_and_shape, void *, void *, void **)(v.values[i], &info));
		check("output", F(element_type, void *, void *, int *)(info, &type));
		check("output", F(element_count, void *, void *, size_t *)(info, &n));
		check("output", F(rank, void *, void *, size_t *)(info, &r));
		if (r > max_rank) fail(v.names[i], "too many dimensions");
		check("output", F(extents, void *, void *, int64_t *, size_t)(info, dims, r));
		bytes[i] = n * types[type].size;
		fprintf(f, "%s %zu %zu", types[type].name, bytes[i], r);
		for (size_t k = 0; k < r; k++) fprintf(f, " %lld", (long long)dims[k]);
		fprintf(f, " %s\n", v.names[i]);
	}
	for (size_t i = 0; i < v.count; i++) {
		if (!bytes[i]) continue;
		void *data;
		check("output", F(tensor_data, void *, void *, void **)(v.values[i], &data));
		fwrite(data, 1, bytes[i], f);
	}
	free(bytes);
	if (fclose(f)) fail(path, "cannot be written");
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
	if (argc < 6) fail("usage", "ort LIBRARY MODEL.onnx THREADS INPUTS OUTPUTS [SYMBOL=N ...]");
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) fail(argv[1], dlerror());
	base *(*get_base)(void) = (base * (*)(void)) dlsym(library, "OrtGetApiBase");
	if (!get_base) fail(argv[1], "no OrtGetApiBase");
	api = get_base()->table(interface);
	if (!api) fail(argv[1], "no such interface");

	void *env, *options, *session, *allocator;
	check("environment", F(create_env, void *, int, const char *, void **)(3, "ort", &env));
	check("options", F(create_session_options, void *, void **)(&options));
	check("options", F(set_execution_mode, void *, void *, int)(options, 0));
	check("options", F(set_optimization, void *, void *, int)(options, 99));
	check("options", F(set_intra_threads, void *, void *, int)(options, atoi(argv[3])));
	check("options", F(set_inter_threads, void *, void *, int)(options, 1));
	for (int i = 6; i < argc; i++) {
		char *equals = strrchr(argv[i], '=');
		if (!equals) fail(argv[i], "want SYMBOL=N");
		*equals = 0;
		check(argv[i], F(override_symbol, void *, void *, const char *, int64_t)(options, argv[i], atoll(equals + 1)));
	}
	check(argv[2], F(create_session, void *, void *, const char *, void *, void **)(env, argv[2], options, &session));

	values in = read_inputs(argv[4]), out = {0};
	check("allocator", F(default_allocator, void *, void **)(&allocator));
	check("outputs", F(output_count, void *, void *, size_t *)(session, &out.count));
	out.names = allocate(out.count * sizeof *out.names);
	out.values = allocate(out.count * sizeof *out.values);
	for (size_t i = 0; i < out.count; i++) check("outputs", F(output_name, void *, void *, size_t, void *, char **)(session, i, allocator, &out.names[i]));

	// The outputs of the first run hold those of the others, but for sequences and maps.
#define RUN() F(run, void *, void *, void *, char **, void **, size_t, char **, size_t, void **)(session, NULL, in.names, in.values, in.count, out.names, out.count, out.values)
	check("run", RUN());
	write_outputs(argv[5], out);
	int *fresh = allocate(out.count * sizeof *fresh);
	for (size_t i = 0; i < out.count; i++)
		if ((fresh[i] = !is_tensor(out.values[i]))) out.values[i] = NULL;
	// A model that declares other extents than its outputs have refuses them.
	void *refused = RUN();
	if (refused) {
		F(release_status, void, void *)(refused);
		for (size_t i = 0; i < out.count; i++) fresh[i] = 1;
	}
	puts("ready");
	fflush(stdout);

	long n, k;
	while (scanf(" run %ld %ld", &n, &k) == 2) {
		double *times = allocate(n * sizeof *times);
		for (long i = 0; i < n; i++) {
			double start = now();
			for (long j = 0; j < k; j++) {
				for (size_t o = 0; o < out.count; o++) {
					if (!fresh[o]) continue;
					if (out.values[o]) F(release_value, void, void *)(out.values[o]);
					out.values[o] = NULL;
				}
				check("run", RUN());
			}
			times[i] = (now() - start) / k;
		}
		for (long i = 0; i < n; i++) printf(i ? " %.1f" : "%.1f", times[i]);
		puts("");
		fflush(stdout);
		free(times);
	}
	return 0;
}
