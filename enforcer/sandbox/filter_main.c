/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs while wardfs is built: compiles every shipped list and writes the programs as a C table,
 * ward_filter_table, into the file that is its one argument. A list with a mistake ends the build.
 */
#include <stdio.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/filter.h"

static int write_list(FILE *f, const struct ward_embedded *e, unsigned number)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_seccomp_compile(e->name, e->data, e->len, &bpf, &err) < 0) {
		fprintf(stderr, "conf/seccomp: %s\n", err.text);
		return 1;
	}
	fprintf(f, "_Alignas(8) static const char data_%u[] = {", number);
	for (size_t i = 0; i < bpf.len; i++)
		fprintf(f, "%d,", ((const signed char *)bpf.data)[i]);
	fprintf(f, "};\n");
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	FILE *f = argc == 2 ? fopen(argv[1], "we") : NULL;
	if (!f)
		return 1;
	fprintf(f, "#include \"enforcer/sandbox/filter_table.h\"\n");
	for (const struct ward_embedded *e = ward_embedded_seccomp; e->name; e++)
		if (write_list(f, e, n++))
			return 1;
	fprintf(f, "const struct ward_embedded ward_filter_table[] = {\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "\t{\"%s\", data_%u, sizeof(data_%u)},\n", ward_embedded_seccomp[i].name,
			i, i);
	fprintf(f, "\t{0, 0, 0},\n};\n");
	return ferror(f) || fclose(f) != 0;
}
