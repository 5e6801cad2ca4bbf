/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for wardfs-init: changes the blueprint that it was given, then becomes the program that
 * the file NAME.real beside it is. What is changed stands in the file NAME.edit, one word a line:
 *
 *   no-filter          the command has no system call filter
 *   no-landlock        nor Landlock
 *   list=FILE          the filter is compiled from FILE
 *   show=PATH          PATH of the host is seen inside as well
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/filter.h"

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "blueprint_edit: %s\n", what);
	exit(124);
}

static void compile(const char *file, struct ward_buf *bpf)
{
	static char text[65536];
	struct ward_err err = WARD_ERR_INIT;
	FILE *f = fopen(file, "re");
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
	if (n == 0 || n == sizeof(text) || ward_seccomp_compile("test", text, n, bpf, &err) < 0)
		die(n ? err.text : "no list");
	fclose(f);
}

static void edit(struct ward_blueprint *p, char *word, struct ward_buf *bpf)
{
	char *value = strchr(word, '=');
	if (value)
		*value++ = '\0';
	if (strcmp(word, "no-filter") == 0) {
		p->filter_len = 0;
	} else if (strcmp(word, "no-landlock") == 0) {
		p->layers &= ~(uint32_t)WARD_LAYER_LANDLOCK;
	} else if (strcmp(word, "list") == 0 && value) {
		compile(value, bpf);
		p->filter = bpf->data;
		p->filter_len = bpf->len;
	} else if (strcmp(word, "show") == 0 && value) {
		struct ward_blueprint_entry *v =
			reallocarray(p->entries, p->n_entries + 1, sizeof(*p->entries));
		if (!v)
			die("no memory");
		/* First: trees come last in a blueprint. */
		memmove(v + 1, v, p->n_entries * sizeof(*v));
		v[0] = (struct ward_blueprint_entry){
			.kind = WARD_BLUEPRINT_BIND, .path = strdup(value), .text = strdup(value)};
		p->entries = v;
		p->n_entries++;
	} else {
		die(word);
	}
}

int main(int argc, char **argv)
{
	struct stat st;
	struct ward_blueprint blueprint;
	struct ward_buf bpf = WARD_BUF_INIT;
	struct ward_buf bytes = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	char self[4096], name[4200], word[4096];
	int fd = -1;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0 || fstat(WARD_INIT_FD_BLUEPRINT, &st) < 0)
		die("no blueprint");
	self[n] = '\0';
	void *data =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, WARD_INIT_FD_BLUEPRINT, 0);
	if (data == MAP_FAILED || ward_blueprint_decode(data, (size_t)st.st_size, &blueprint) < 0)
		die("the blueprint cannot be understood");
	snprintf(name, sizeof(name), "%s.edit", self);
	FILE *f = fopen(name, "re");
	while (f && fgets(word, sizeof(word), f)) {
		word[strcspn(word, "\n")] = '\0';
		edit(&blueprint, word, &bpf);
	}
	if (!f || ward_blueprint_encode(&blueprint, &bytes) < 0 ||
		ward_fd_sealed("blueprint", bytes.data, bytes.len, &fd, &err) < 0 ||
		dup2(fd, WARD_INIT_FD_BLUEPRINT) < 0)
		die("cannot hand the blueprint on");
	fclose(f);
	snprintf(name, sizeof(name), "%s.real", self);
	execve(name, argv, (char *[]){NULL});
	die("no real program");
}
